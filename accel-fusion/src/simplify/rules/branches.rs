//! Rules for conditionals whose branches are variables or constants. (`scalars.rs` handles branches that compute
//! something.)

use super::logic::{known, negated};
use crate::simplify::operand_facts::{Facts, constant, same};
use crate::simplify::stats::{Rewritten, Rule};
use accel_core::ast::*;
use accel_core::repr::Scalar;

pub fn cond<E, A, T>(c: &Exp<E, A, bool>, a: &Exp<E, A, T>, b: &Exp<E, A, T>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    // if true then a else b = a
    if let Some(c) = known(c) {
        return Some((Rule::KnownCondition, if c { a.clone() } else { b.clone() }));
    }
    // if c then x else x = x
    if same(a, b).is_some() {
        return Some((Rule::SameBranches, a.clone()));
    }
    // if !c then a else b = if c then b else a
    if let Some(c) = negated(c, f) {
        return Some((Rule::BooleanCondition, Exp::cond(&c, b, a)));
    }
    // if c then true else false = c
    let (x, y) = (constant(a)?, constant(b)?);
    let q = Ty::<bool>::of().same(a.ty())?;
    match (x.scalars(), y.scalars()) {
        ([Scalar::Bool(true)], [Scalar::Bool(false)]) => Some((Rule::BooleanCondition, c.cast(q))),
        ([Scalar::Bool(false)], [Scalar::Bool(true)]) => {
            Some((Rule::BooleanCondition, Exp::prim1(Prim1::Not(Equal::refl(), Equal::refl()), c).cast(q)))
        }
        _ => None,
    }
}
