//! Mistake: a backpermute along `f` goes the wrong way.
use accel_core::ast::*;
use frunk::HNil;

/// The adjoint of `backpermute _ f` of an array of shape `sh`: every element is added where it came from.
pub fn scatter<A, Sh, Sh2, T>(
    add: &Fun2<A, T, T, T>,
    zero: &Exp<HNil, A, T>,
    t: &ShapeTy<Sh2>,
    sh: &Exp<HNil, A, Sh2>,
    f: &Fun1<A, Sh, Sh2>,
    da: &Acc<A, Arr<Sh, T>>,
) -> Acc<A, Arr<Sh2, T>> {
    Acc::backpermute(t, sh, f, da, None)
}

fn main() {}
