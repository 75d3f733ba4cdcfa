//! Mistake: the dual is forgotten.
use accel_core::ast::*;

/// The definitions of a telescope around a body.
pub fn close<A, E, E2, T>(tele: &Tele<A, E, E2>, body: &Exp<E2, A, T>) -> Exp<E, A, T> {
    fresh1(|n| match tele.view(n) {
        TeleView::Nil(q) => body.cast_env(q.sym()),
        TeleView::Extended(init, last, q) => close(&init, &Exp::let_(&last, &body.cast_env(q))),
    })
}

/// The adjoint of a variable at the end of the dual, which is built on top of the primal.
pub fn gradient<A, E, E2, E3, T>(
    primal: &Tele<A, E, E2>,
    dual: &Tele<A, E2, E3>,
    adjoint: &Idx<E3, T>,
) -> Exp<E, A, T> {
    close(primal, &Exp::var(adjoint))
}

fn main() {}
