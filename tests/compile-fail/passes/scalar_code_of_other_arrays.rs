//! Mistake: the function does not see the new array variable.
use accel_core::ast::*;
use frunk::HCons;

/// `map f (let x = b in a) = let x = b in map f a`
pub fn float_let<A, B, Sh, P, T>(
    f: &Fun1<A, P, T>,
    b: &Acc<A, B>,
    a: &Acc<HCons<B, A>, Arr<Sh, P>>,
) -> Acc<A, Arr<Sh, T>> {
    Acc::let_(b, &Acc::map(f, a, None))
}

fn main() {}
