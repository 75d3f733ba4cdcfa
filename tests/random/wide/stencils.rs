//! Functions of the neighbours of an element, in one and two dimensions, with all ways to treat neighbours that do not exist. In
//! reverse mode, each element has several adjoints, which share work and factors.

use super::functions::Making;
use super::generate::{Maker, Tried};
use super::program::*;
use super::types::{Elem, Number, Ty};
use accel::repr::Scalar;
use accel::repr::op::{Float1, Num2, Op1, Op2};

/// What is read in place of a neighbour that does not exist.
#[derive(Clone, Copy)]
enum Boundary {
    /// There are only elements that have all neighbours.
    Inside,
    Clamp,
    Wrap,
    Zero,
}

/// The largest distance of a neighbour, from the first one.
const SPAN: i64 = 2;

fn num(f: &mut Making, op: Num2, a: Val, b: Val) -> Val {
    f.op2(Op2::Num(op), a, b)
}

impl Maker {
    /// The definitions of one or two stencils, the second one often of the first one's result.
    pub fn stencils(&mut self) -> Vec<Def> {
        let mut defs = vec![];
        for _ in 0..1 + self.r.below(2) {
            let is_field = |t: &Ty| t.elem == Elem::F64 && (1..3).contains(&t.rank);
            let Some((array, ty)) = self.array(is_field) else { break };
            let def = self.stencil(array, ty);
            if let Tried::Done(arrays) = self.attempt(&def) {
                self.define(&def, arrays);
                defs.push(def);
            }
        }
        defs
    }

    fn stencil(&mut self, array: Arr, ty: Ty) -> Def {
        use Boundary::*;
        let boundary = self.r.pick(&[Inside, Inside, Clamp, Wrap, Zero]);
        let shape = Making::functions(self, &[], |f| {
            let extent = |dim| {
                let n = f.add(Elem::I64, Node::Extent { array, dim });
                match boundary {
                    Inside => {
                        let (span, zero) = (f.int(SPAN), f.int(0));
                        let inside = num(f, Num2::Sub, n, span);
                        num(f, Num2::Max, inside, zero)
                    }
                    _ => n,
                }
            };
            (0..ty.rank).map(extent).collect()
        });
        let f = Making::fun(self, &vec![Elem::I64; ty.rank], |f| {
            let most = if ty.rank == 1 { 4 } else { 8 };
            let mut reads = vec![];
            for _ in 0..2 + f.below(most) {
                reads.push(f.neighbour(array, ty.rank, boundary));
            }
            let mut total = f.term(&reads);
            for _ in 0..f.below(4) {
                let (term, op) = (f.term(&reads), f.pick(&[Num2::Add, Num2::Add, Num2::Sub]));
                total = num(f, op, total, term);
            }
            total
        });
        Def { tys: vec![ty], step: Step::Generate { shape, f } }
    }
}

impl Making<'_> {
    /// A read of a neighbour.
    fn neighbour(&mut self, array: Arr, rank: usize, boundary: Boundary) -> Val {
        let mut place = |dim: usize| {
            let first = if matches!(boundary, Boundary::Inside) { 0 } else { -1 };
            let away = self.below(SPAN as usize + 1) as i64 + first;
            let away = self.int(away);
            let at = num(self, Num2::Add, dim, away);
            let Boundary::Clamp = boundary else { return at };
            let (n, zero, one) = (self.add(Elem::I64, Node::Extent { array, dim }), self.int(0), self.int(1));
            let (last, at) = (num(self, Num2::Sub, n, one), num(self, Num2::Max, at, zero));
            num(self, Num2::Min, at, last)
        };
        let index = (0..rank).map(&mut place).collect();
        let outside = match boundary {
            Boundary::Inside | Boundary::Clamp => Outside::Fails,
            Boundary::Wrap => Outside::Wraps,
            Boundary::Zero => Outside::Skips,
        };
        self.add(Elem::F64, Node::Read { array, index, outside })
    }

    /// A product of neighbours, sums of two, functions of one, and numbers.
    fn term(&mut self, reads: &[Val]) -> Val {
        let mut factor = || match self.below(5) {
            0 | 1 => self.pick(reads),
            2 => {
                let (a, b) = (self.pick(reads), self.pick(reads));
                num(self, Num2::Add, a, b)
            }
            3 => {
                let (f, x) = (self.pick(&[Float1::Sin, Float1::Tanh, Float1::Cos, Float1::Exp]), self.pick(reads));
                self.op1(Op1::Float(f), x)
            }
            _ => {
                let x = self.pick(&[0.5, 0.25, -1.0, 2.0]);
                self.number(Number(Scalar::F64(x)))
            }
        };
        let mut product = factor();
        let all = [factor(), factor()];
        for other in &all[..self.below(3)] {
            product = num(self, Num2::Mul, product, *other);
        }
        product
    }
}
