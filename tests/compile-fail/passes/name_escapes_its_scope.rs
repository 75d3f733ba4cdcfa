//! Mistake: the telescope leaves the scope of the name of its environment.
use accel_core::ast::*;

/// The definitions of a telescope around a body.
pub fn close<A, E, E2, T>(tele: &Tele<A, E, E2>, body: &Exp<E2, A, T>) -> Exp<E, A, T> {
    fresh1(|n| match tele.view(n) {
        TeleView::Nil(q) => body.cast_env(q.sym()),
        TeleView::Extended(init, last, q) => close(&init, &Exp::let_(&last, &body.cast_env(q))),
    })
}

/// A telescope from `E`, how its environment extends `E2`, and the variable that holds the result.
pub struct Emitted<'m, A, E, E2, T> {
    pub tele: Tele<A, E, X<'m>>,
    pub ren: Thinning<E2, X<'m>>,
    pub res: Idx<X<'m>, T>,
}
/// Adds a definition to a telescope.
pub fn emit<'m, A, E, E2, T>(tele: &Tele<A, E, E2>, e: &Exp<E2, A, T>, m: Guard<'m>) -> Emitted<'m, A, E, E2, T> {
    let q = name(m); // HCons<T, E2> = X<'m>
    Emitted { tele: tele.snoc(e).cast(q), ren: Thinning::shift().to(q), res: Idx::zero(e.ty()).cast_env(q) }
}

/// `let x = e in x` through a telescope.
pub fn define<E, A, T>(e: &Exp<E, A, T>) -> Exp<E, A, T> {
    let emitted = fresh1(|m| emit(&Tele::nil(), e, m));
    close(&emitted.tele, &Exp::var(&emitted.res))
}

fn main() {}
