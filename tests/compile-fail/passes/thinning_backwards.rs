//! Mistake: the adjoint is moved although it is in the dual already.
use accel_core::ast::*;
use accel_core::repr::op::Num2;

/// The adjoint of `x * y` with respect to `x`: a value of the primal, used in the dual.
pub fn contribution<E2, E3, A, T>(
    t: NumTy<T>,
    primal_in_dual: &Thinning<E2, E3>,
    y: &Idx<E2, T>,
    adjoint: &Idx<E3, T>,
) -> Exp<E3, A, T> {
    let mul = Prim2::Num(Num2::Mul, t, Equal::refl());
    Exp::prim2(mul, &Exp::var(&primal_in_dual.at(y)), &Exp::var(&primal_in_dual.at(adjoint)))
}

fn main() {}
