//! Array conditionals and loops.

use super::graph::{ArrayOp, Handle, build};
use super::handles::Acc;
use super::nodes::closure;
use super::primitives::unit;
use crate::ast::ty::Repr;
use crate::types::arrays::{Arrays, IntoAcc};
use crate::types::elt::ToExp;
use std::panic::Location;

/// `a` if `c` is true, `b` otherwise; only the chosen one is computed.
#[track_caller]
pub fn acond<A: Arrays>(c: impl ToExp<bool>, a: impl IntoAcc<Arrays = A>, b: impl IntoAcc<Arrays = A>) -> Acc<A> {
    let (c, x, y) = (c.to_exp(), a.into_acc(), b.into_acc());
    Acc::new(build("acond", Location::caller(), |b| {
        let (c, x, y) = (b.id(c.handle()), b.id(x.handle()), b.id(y.handle()));
        b.push(ArrayOp::Cond(c, x, y), A::Repr::raw())
    }))
}

/// A loop over arrays: starts with the arrays `init` and applies `body` as long as `condition` is true.
#[track_caller]
pub fn awhile<A: Arrays, C: ToExp<bool>, R: IntoAcc<Arrays = A>>(
    condition: impl FnOnce(A::Acc) -> C,
    body: impl FnOnce(A::Acc) -> R,
    init: impl IntoAcc<Arrays = A>,
) -> Acc<A> {
    let at = Location::caller();
    let init = init.into_acc();
    let open = |[p]: [Handle; 1]| A::unlift(Acc::new(p));
    // The condition is a scalar. The result of an array function is an array, so an array of one element holds it.
    let condition = closure("awhile", at, [A::Repr::raw()], open, condition, |c| unit(c.to_exp()).handle());
    let body = closure("awhile", at, [A::Repr::raw()], open, body, |r| r.into_acc().handle());
    Acc::new(build("awhile", at, |b| {
        let (cond, body, init) = (condition.lam(b), body.lam(b), b.id(init.handle()));
        b.push(ArrayOp::While { cond, body, init }, A::Repr::raw())
    }))
}
