//! Mistake: a constant is an array.
use accel_core::ast::*;

pub fn zeros<E, A, Sh, T>(t: &Ty<Arr<Sh, T>>) -> Exp<E, A, Arr<Sh, T>> {
    Exp::constant(&Value::zero(t), t)
}

pub fn known<E, A>() -> Exp<E, A, Arr<(), f64>> {
    Exp::constant(&Value::zero(&ElementTy::known()), &Ty::of())
}

fn main() {}
