//! Mistake: `replicate` goes from the small to the large shape.
use accel_core::ast::*;
use frunk::HNil;

/// The part of an array at an index of the fixed dimensions.
pub fn cut<A, Slx, Small, Large, T>(
    spec: &SliceSpec<Slx, Small, Large>,
    slx: &Exp<HNil, A, Slx>,
    a: &Acc<A, Arr<Large, T>>,
) -> Acc<A, Arr<Small, T>> {
    Acc::replicate(spec, slx, a, None)
}

fn main() {}
