//! Mistake: the old entries stay in the smaller environment.
use accel_core::ast::*;
use frunk::HCons;

/// A table of variables, below one more binder of both environments.
pub fn bind<'m, E, F, B>(s: &Env<IdxF<F>, E>, t: &Ty<B>, m: Guard<'m>) -> Env<IdxF<X<'m>>, HCons<B, E>> {
    let q = name(m); // HCons<B, F> = X<'m>
    s.push(&Idx::zero(t).cast_env(q), t)
}

fn main() {}
