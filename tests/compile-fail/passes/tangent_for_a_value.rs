//! Mistake: a tangent is used without proof that it is of the type of its value.
use accel_core::ast::*;
use accel_core::repr::op::Num2;

/// `x + dx`: a floating-point number is its own tangent.
pub fn step<E, A, T>(t: FloatTy<T>, x: &Exp<E, A, T>, dx: &Exp<E, A, Tan<T>>) -> Exp<E, A, T> {
    let add = Prim2::Num(Num2::Add, t.num(), Equal::refl());
    Exp::prim2(add, x, dx)
}

fn main() {}
