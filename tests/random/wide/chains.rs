//! Chains of small vectors that read each other's elements, as the unrolled stages of Runge-Kutta steps, of recurrent
//! networks and of controllers: each stage reads the beginning of its step and the stage before, and the step adds all of them
//! up. Every value has many readers, so its adjoint is a sum of many parts.

use super::functions::Making;
use super::generate::{Maker, Tried, constant};
use super::program::*;
use super::types::{Elem, Number, Ty};
use accel::repr::Scalar;
use accel::repr::op::{Cmp, Float1, Num2, Op1, Op2};

/// The definitions of a chain.
struct Chain {
    /// The number of the first one.
    level: Arr,
    steps: Vec<Step>,
}

impl Chain {
    fn push(&mut self, step: Step) -> Arr {
        self.steps.push(step);
        self.level + self.steps.len() - 1
    }
}

/// `a + length b`
fn plus(f: &mut Making, a: Val, b: Val, length: f64) -> Val {
    let length = f.number(Number(Scalar::F64(length)));
    let part = f.op2(Op2::Num(Num2::Mul), b, length);
    f.op2(Op2::Num(Num2::Add), a, part)
}

fn read(f: &mut Making, array: Arr, index: Val) -> Val {
    f.add(Elem::F64, Node::Read { array, index: vec![index], outside: Outside::Wraps })
}

impl Maker {
    /// The definitions of a chain, which begins with the first of the vectors 0 and 1 and reads parameters from one of them. It ends
    /// before values that are too large.
    pub fn chain(&mut self) -> Vec<Def> {
        let n = constant(Number(Scalar::I64(1 + self.r.below(3) as i64)));
        let parameters = self.r.below(2);
        let mut chain = Chain { level: self.types.len(), steps: vec![] };
        let index = [Elem::I64];
        let f = Making::fun(self, &index, |f| read(f, 0, 0));
        let mut y = chain.push(Step::Generate { shape: n.clone(), f });
        // All steps have the same form, as in a loop that was unrolled.
        let (stages, slope, extents_are_read) = (1 + self.r.below(4), Slope::random(self), self.r.chance(30));
        let zipped = self.r.chance(30);
        let zip = |m: &mut Maker, x, y| {
            let f = Making::fun(m, &[Elem::F64, Elem::F64], |f| plus(f, 0, 1, slope.length));
            Step::ZipWith { strict: false, f, x, y }
        };
        for _ in 0..1 + self.r.below(3) {
            let mut all: Vec<Arr> = vec![];
            for _ in 0..stages {
                let at = all.last().map_or(y, |last| chain.push(zip(self, y, *last)));
                let shape = match extents_are_read {
                    true => {
                        let nodes = vec![(Elem::I64, Node::Extent { array: at, dim: 0 })];
                        Fun { params: vec![], nodes, results: vec![0] }
                    }
                    false => n.clone(),
                };
                let f = Making::fun(self, &index, |f| slope.code(f, at, parameters));
                all.push(chain.push(Step::Generate { shape, f }));
            }
            y = if zipped {
                all.iter().fold(y, |sum, k| chain.push(zip(self, sum, *k)))
            } else {
                let f = Making::fun(self, &index, |f| {
                    let start = read(f, y, 0);
                    all.iter().fold(start, |sum, k| {
                        let stage = read(f, *k, 0);
                        plus(f, sum, stage, slope.length)
                    })
                });
                chain.push(Step::Generate { shape: n.clone(), f })
            };
        }
        let mut defs = vec![];
        for step in chain.steps {
            let def = Def { tys: vec![Ty::new(1, Elem::F64)], step };
            let Tried::Done(arrays) = self.attempt(&def) else { break };
            self.define(&def, arrays);
            defs.push(def);
        }
        defs
    }
}

/// The function that each stage computes.
struct Slope {
    /// The constant index that the first element reads.
    constant: i64,
    /// What is added to the index of the other elements.
    shift: i64,
    sine: bool,
    friction: bool,
    decides: bool,
    /// The length of a step.
    length: f64,
}

impl Slope {
    fn random(m: &mut Maker) -> Slope {
        Slope {
            constant: m.r.below(3) as i64,
            shift: m.r.pick(&[-1, 0, 1, 1]),
            sine: m.r.chance(40),
            friction: m.r.chance(50),
            decides: m.r.chance(80),
            length: m.r.pick(&[1.0, 0.5, 0.5, 0.25]),
        }
    }

    /// `y[constant]` for the first element, and `y[i + shift] + p[..] * y[i]` or less for the others.
    fn code(&self, f: &mut Making, y: Arr, parameters: Arr) -> Val {
        let (constant, shift) = (f.int(self.constant), f.int(self.shift));
        let place = f.op2(Op2::Num(Num2::Add), 0, shift);
        let mut other = read(f, y, place);
        if self.sine {
            other = f.op1(Op1::Float(Float1::Sin), other);
        }
        if self.friction {
            let (own, p) = (read(f, y, 0), read(f, parameters, constant));
            let product = f.op2(Op2::Num(Num2::Mul), own, p);
            other = f.op2(Op2::Num(Num2::Add), other, product);
        }
        let first = read(f, y, constant);
        if !self.decides {
            return f.op2(Op2::Num(Num2::Add), first, other);
        }
        let zero = f.int(0);
        let is_first = f.op2(Op2::Cmp(Cmp::Eq), 0, zero);
        f.add(Elem::F64, Node::Cond(is_first, first, other))
    }
}
