//! Mistake: the elements are folded before they are mapped.
use accel_core::ast::*;
use frunk::HNil;

/// `fold comb z (map f a)`
pub fn map_reduce<A, Sh, P, T>(
    f: &Fun1<A, P, T>,
    comb: &Fun2<A, T, T, T>,
    z: &Exp<HNil, A, T>,
    a: &Acc<A, Arr<(Sh, i64), P>>,
) -> Acc<A, Arr<Sh, T>> {
    Acc::fold(comb, z, a, None)
}

fn main() {}
