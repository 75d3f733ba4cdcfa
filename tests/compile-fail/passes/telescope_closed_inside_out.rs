//! Mistake: the last definition is put around the first ones.
use accel_core::ast::*;

/// The definitions of a telescope around a body.
pub fn close<A, E, E2, T>(tele: &Tele<A, E, E2>, body: &Exp<E2, A, T>) -> Exp<E, A, T> {
    fresh1(|n| match tele.view(n) {
        TeleView::Nil(q) => body.cast_env(q.sym()),
        TeleView::Extended(init, last, q) => Exp::let_(&last, &close(&init, &body.cast_env(q))),
    })
}

fn main() {}
