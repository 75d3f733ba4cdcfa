//! Chains of small vectors that read each other's elements, as the unrolled stages of Runge-Kutta steps, of recurrent
//! networks and of controllers: each stage reads the beginning of its step and the stage before, and the step adds all of them
//! up. Every value has many readers, so its adjoint is a sum of many parts.

use super::generate::{Maker, below, chance, pick};
use super::program::*;

/// A scalar function in the making.
struct Code {
    params: usize,
    nodes: Vec<(Scalar, Node)>,
}

impl Code {
    fn new(params: &[Scalar]) -> Code {
        let nodes = params.iter().enumerate().map(|(k, ty)| (*ty, Node::Param(k))).collect();
        Code { params: params.len(), nodes }
    }

    fn add(&mut self, ty: Scalar, node: Node) -> usize {
        self.nodes.push((ty, node));
        self.nodes.len() - 1
    }

    fn binary(&mut self, op: Binary, a: usize, b: usize) -> usize {
        self.add(self.nodes[a].0, Node::Binary(op, a, b))
    }

    fn times(&mut self, x: usize, c: f64) -> usize {
        let c = self.add(Scalar::F, Node::F(c));
        self.binary(Binary::Mul, x, c)
    }

    fn int(&mut self, i: i64) -> usize {
        self.add(Scalar::I, Node::I(i))
    }

    fn read(&mut self, array: usize, index: usize) -> usize {
        self.add(Scalar::F, Node::Read { array, index: vec![index], part: 0, outside: Outside::Wraps })
    }

    fn finish(self, result: usize) -> Fun {
        Fun { params: self.params, nodes: self.nodes, results: vec![result] }
    }
}

const VECTOR: Ty = Ty { elem: Elem::F, rank: 1 };

impl Maker<'_> {
    /// The steps of a chain after `before` others.
    pub fn chain(&mut self, before: usize) -> Vec<(Ty, Step)> {
        let n = 1 + below(self.g, 3) as i64;
        let mut steps = vec![];
        let push = |steps: &mut Vec<(Ty, Step)>, step| {
            steps.push((VECTOR, step));
            before + steps.len() - 1
        };
        let parameters = pick(self.g, &[0, 1]);
        let mut f = Code::new(&[Scalar::I]);
        let first = f.read(0, 0);
        let mut y = push(&mut steps, self.filled(n, f.finish(first)));
        // All steps have the same form, as in a loop that was unrolled.
        let (stages, slope, extents_are_read) = (1 + below(self.g, 4), Slope::random(self), chance(self.g, 30));
        let zipped = chance(self.g, 30);
        for _ in 0..1 + below(self.g, 3) {
            let mut all: Vec<usize> = vec![];
            for _ in 0..stages {
                let at = match all.last() {
                    None => y,
                    Some(last) => {
                        let mut f = Code::new(&[Scalar::F, Scalar::F]);
                        let part = f.times(1, slope.length);
                        let sum = f.binary(Binary::Add, 0, part);
                        push(&mut steps, Step::ZipWith { f: f.finish(sum), x: y, y: *last })
                    }
                };
                let extent =
                    if extents_are_read { Extent::Of { array: at, dim: 0, plus: 0 } } else { Extent::Const(n) };
                let f = slope.code(at, parameters);
                all.push(push(&mut steps, Step::Generate { extents: vec![extent], f }));
            }
            y = if zipped {
                all.iter().fold(y, |sum, k| {
                    let mut f = Code::new(&[Scalar::F, Scalar::F]);
                    let part = f.times(1, slope.length);
                    let total = f.binary(Binary::Add, 0, part);
                    push(&mut steps, Step::ZipWith { f: f.finish(total), x: sum, y: *k })
                })
            } else {
                let mut f = Code::new(&[Scalar::I]);
                let start = f.read(y, 0);
                let sum = all.iter().fold(start, |sum, k| {
                    let stage = f.read(*k, 0);
                    let part = f.times(stage, slope.length);
                    f.binary(Binary::Add, sum, part)
                });
                push(&mut steps, self.filled(n, f.finish(sum)))
            };
        }
        steps
    }

    fn filled(&self, n: i64, f: Fun) -> Step {
        Step::Generate { extents: vec![Extent::Const(n)], f }
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
            constant: below(m.g, 3) as i64,
            shift: pick(m.g, &[-1, 0, 1, 1]),
            sine: chance(m.g, 40),
            friction: chance(m.g, 50),
            decides: chance(m.g, 80),
            length: pick(m.g, &[1.0, 0.5, 0.5, 0.25]),
        }
    }

    /// `y[constant]` for the first element, and `y[i + shift] + p[..] * y[i]` or less for the others.
    fn code(&self, y: usize, parameters: usize) -> Fun {
        let mut f = Code::new(&[Scalar::I]);
        let (constant, shift) = (f.int(self.constant), f.int(self.shift));
        let place = f.binary(Binary::Add, 0, shift);
        let mut other = f.read(y, place);
        if self.sine {
            other = f.add(Scalar::F, Node::Unary(Unary::Sin, other));
        }
        if self.friction {
            let (own, p) = (f.read(y, 0), f.read(parameters, constant));
            let product = f.binary(Binary::Mul, own, p);
            other = f.binary(Binary::Add, other, product);
        }
        let first = f.read(y, constant);
        let result = if self.decides {
            let zero = f.int(0);
            let is_first = f.add(Scalar::B, Node::Compare(Compare::Eq, 0, zero));
            f.add(Scalar::F, Node::Cond(is_first, first, other))
        } else {
            f.binary(Binary::Add, first, other)
        };
        f.finish(result)
    }
}
