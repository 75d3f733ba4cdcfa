//! Mistake: the body leaves the scope of its definition.
use accel_core::ast::*;
use frunk::HCons;

/// `map f (let x = b in a) = let x = b in map f a`
pub fn float_let<A, B, Sh, P, T>(
    f: &Fun1<A, P, T>,
    b: &Acc<A, B>,
    a: &Acc<HCons<B, A>, Arr<Sh, P>>,
) -> Acc<A, Arr<Sh, T>> {
    Acc::map(&f.aweaken(&Thinning::shift()), a, None)
}

fn main() {}
