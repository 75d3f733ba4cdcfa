//! Mistake: the components stay in their places.
use accel_core::ast::*;

/// The components of a pair the other way round.
pub fn swap<E, A, P, Q>(e: &Exp<E, A, (P, Q)>) -> Exp<E, A, (Q, P)> {
    Exp::pair(&e.fst(), &e.snd())
}

fn main() {}
