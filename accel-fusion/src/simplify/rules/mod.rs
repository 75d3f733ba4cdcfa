//! The rules for scalar operations, by family. A rule takes an operation on variables or constants, and returns an
//! equal operation on such operands, or a variable or constant.

pub mod algebra;
pub mod branches;
pub mod constants;
pub mod logic;
pub mod operations;
pub mod tuples;

use super::operand_facts::Facts;
use super::stats::Rewritten;
use accel_core::ast::*;

/// The first rule that applies.
pub fn rewrite<E, A, T>(e: &Exp<E, A, T>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    fresh1(|n| {
        let ExpView::Op(op) = e.view(n) else { return None };
        match &op {
            ExpOp::Pair(a, b, _) => tuples::pair(a, b, e.ty(), f),
            ExpOp::Fst(a, q) => tuples::fst(&a.cast(*q), f),
            ExpOp::Snd(a, q) => tuples::snd(&a.cast(*q), f),
            ExpOp::Prim1(p, a) => {
                constants::prim1(*p, a).or_else(|| algebra::prim1(*p, a, f)).or_else(|| logic::prim1(*p, a, f))
            }
            ExpOp::Prim2(p, a, b) => {
                constants::prim2(*p, a, b).or_else(|| algebra::prim2(*p, a, b, f)).or_else(|| logic::prim2(*p, a, b))
            }
            ExpOp::Cond(c, a, b) => branches::cond(c, a, b, f),
            ExpOp::Index(..) | ExpOp::Shape(..) | ExpOp::Emit { .. } => None,
        }
    })
}
