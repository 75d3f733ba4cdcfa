//! Mistake: the adjoints of the components are mixed up.
use accel_core::ast::*;

/// The adjoints of the components of a pair.
pub fn pair_adjoints<E, A, P, Q>(d: &Exp<E, A, Tan<(P, Q)>>) -> (Exp<E, A, Tan<P>>, Exp<E, A, Tan<Q>>) {
    let d = d.cast(tan_pair());
    (d.snd(), d.fst())
}

fn main() {}
