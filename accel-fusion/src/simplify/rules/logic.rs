//! Identities of booleans and comparisons.

use crate::simplify::operand_facts::{Facts, constant, same, truth};
use crate::simplify::stats::{Rewritten, Rule};
use accel_core::ast::*;
use accel_core::repr::Scalar;
use accel_core::repr::op::{Cmp, Logic};

/// The value of a constant boolean.
pub fn known<E, A>(e: &Exp<E, A, bool>) -> Option<bool> {
    match constant(e)?.scalars() {
        [Scalar::Bool(b)] => Some(*b),
        _ => None,
    }
}

/// The operand of a negation.
pub fn negated<E, A>(e: &Exp<E, A, bool>, f: &Facts<E, A>) -> Option<Exp<E, A, bool>> {
    fresh1(|n| match f.definition(e).view(n) {
        ExpView::Op(ExpOp::Prim1(Prim1::Not(q, _), x)) => Some(x.cast(q)),
        _ => None,
    })
}

pub fn prim1<E, A, P, T>(p: Prim1<P, T>, a: &Exp<E, A, P>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    let Prim1::Not(arg, result) = p else { return None };
    let a = a.cast(arg);
    // !!x = x
    if let Some(x) = negated(&a, f) {
        return Some((Rule::Negation, x.cast(result.sym())));
    }
    fresh1(|n| {
        let ExpView::Op(ExpOp::Prim2(Prim2::Cmp(op, t, _), x, y)) = f.definition(&a).view(n) else { return None };
        let opposite = match op {
            Cmp::Eq => Cmp::Ne,
            Cmp::Ne => Cmp::Eq,
            // With NaN, neither of the two comparisons holds.
            _ if t.float().is_some() => return None,
            Cmp::Lt => Cmp::Ge,
            Cmp::Ge => Cmp::Lt,
            Cmp::Gt => Cmp::Le,
            Cmp::Le => Cmp::Gt,
        };
        Some((Rule::Negation, Exp::prim2(Prim2::Cmp(opposite, t, result), &x, &y)))
    })
}

pub fn prim2<E, A, P, T>(p: Prim2<P, T>, a: &Exp<E, A, P>, b: &Exp<E, A, P>) -> Rewritten<E, A, T> {
    match p {
        Prim2::Logic(op, arg, result) => {
            let (a, b) = (a.cast(arg), b.cast(arg));
            let (rule, e) = logic(op, &a, &b)?;
            Some((rule, e.cast(result.sym())))
        }
        Prim2::Cmp(op, t, result) => {
            same(a, b)?;
            let holds = match op {
                // NaN is not equal to itself.
                Cmp::Eq | Cmp::Ne | Cmp::Le | Cmp::Ge if t.float().is_some() => return None,
                Cmp::Eq | Cmp::Le | Cmp::Ge => true,
                Cmp::Ne | Cmp::Lt | Cmp::Gt => false,
            };
            Some((Rule::CompareSame, truth(holds).cast(result.sym())))
        }
        _ => None,
    }
}

fn logic<E, A>(op: Logic, a: &Exp<E, A, bool>, b: &Exp<E, A, bool>) -> Rewritten<E, A, bool> {
    // x && x = x, x || x = x
    if same(a, b).is_some() {
        return Some((Rule::Idempotent, a.clone()));
    }
    let (c, x) = known(a).map(|c| (c, b)).or_else(|| known(b).map(|c| (c, a)))?;
    let neutral = op == Logic::And;
    Some((Rule::LogicConstant, if c == neutral { x.clone() } else { truth(c) }))
}
