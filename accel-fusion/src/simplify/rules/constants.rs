//! Constant folding: replaces `f c` by the value of `f` at `c`, computed as the interpreter computes it. If the value
//! is an error, the expression stays.

use crate::simplify::operand_facts::{literal, scalar};
use crate::simplify::stats::{Rewritten, Rule};
use accel_core::ast::*;

pub fn prim1<E, A, P, T>(p: Prim1<P, T>, a: &Exp<E, A, P>) -> Rewritten<E, A, T> {
    let value = p.op().eval(scalar(a)?).ok()?;
    Some((Rule::ConstantFold, literal(ScalarTy::of(&p.result())?, value)?))
}

pub fn prim2<E, A, P, T>(p: Prim2<P, T>, a: &Exp<E, A, P>, b: &Exp<E, A, P>) -> Rewritten<E, A, T> {
    let value = p.op().eval(scalar(a)?, scalar(b)?).ok()?;
    Some((Rule::ConstantFold, literal(ScalarTy::of(&p.result())?, value)?))
}
