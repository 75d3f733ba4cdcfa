//! Mistake: there is no proof that the type of the new shape is a shape type.
use accel_core::ast::*;
use frunk::HNil;

pub fn reshaped<A, Sh, Sh2, T>(sh: &Exp<HNil, A, Sh2>, a: &Acc<A, Arr<Sh, T>>) -> Acc<A, Arr<Sh2, T>> {
    Acc::reshape(sh.ty(), sh, a, None)
}

fn main() {}
