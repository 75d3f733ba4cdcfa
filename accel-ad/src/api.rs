//! Derivatives of typed programs: what users call.

use crate::program::{Reverse, forward_mode, reverse_mode};
use crate::scalar::gradient::Gradient;
use accel_core::afun::Afun;
use accel_core::ast::Program;
use accel_core::error::Result;
use accel_core::prelude::Scalar;
use accel_core::surface::{Exp, IntoExp, transform_exp};
use accel_core::types::{Arrays, Elt, Floating};
use std::panic::Location;
use std::sync::Arc;

/// The gradient of a program whose result is one floating-point number.
///
/// It is a program of the same argument, whose result has the type and shapes of the argument. Discrete parts of it
/// (integers, booleans) are zero.
///
/// Reverse mode: the cost is a small multiple of the program's own, however large the argument is (thesis chapter 3).
///
/// # Errors
/// Kept in the result and reported when it is run: an operation without a reverse derivative (`scan`, `permute`, loops), with
/// its source line; the errors of `prog` itself.
pub fn grad<A: Arrays, T: Floating>(prog: &Afun<A, Scalar<T>>) -> Afun<A, A> {
    derived(prog, |p| reverse_mode(p, Reverse::Gradient))
}

/// The value and the gradient of a program in one: the value is computed once. See [`grad`].
pub fn value_and_grad<A: Arrays, T: Floating>(prog: &Afun<A, Scalar<T>>) -> Afun<A, (Scalar<T>, A)> {
    derived(prog, |p| reverse_mode(p, Reverse::ValueAndGradient))
}

/// The vector-Jacobian product of a program with any result.
///
/// It takes the argument and the adjoint of the result to the adjoint of the argument. An adjoint that has not the shapes of the
/// result is an error when the program runs. Other errors as for [`grad`].
#[track_caller]
pub fn vjp<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> Afun<(A, R), A> {
    let at = Some(Location::caller());
    derived(prog, |p| reverse_mode(p, Reverse::Pullback { at }))
}

/// The Jacobian-vector product of a program: results and directional derivatives.
///
/// It takes the argument and a tangent of the same shapes to the result and its tangent. A tangent of other shapes is an error when
/// the program runs. Forward mode; covers the whole language.
#[track_caller]
pub fn jvp<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> Afun<(A, A), (R, R)> {
    let at = Some(Location::caller());
    derived(prog, |p| forward_mode(p, at))
}

/// Transforms the typed program; mistakes are kept.
fn derived<A, R, B: Arrays, S: Arrays>(prog: &Afun<A, R>, d: impl FnOnce(&Program) -> Result<Program>) -> Afun<B, S> {
    Afun::from_result(prog.program().and_then(d))
}

/// Inside scalar code: the gradient of `f` at `x` (the thesis's `gradientE`).
///
/// For a tuple or record `x` it is the tuple or record of the partial derivatives: `let (dx, dy) = gradient(|(x, y)| x * y, (x,
/// y)).unlift()`. `f` may use variables and arrays of the surrounding program; only `x` is differentiated. Discrete parts of
/// the result are zero.
///
/// # Errors
/// Reported when the surrounding program is run: a loop on the way from `x` to the result.
#[track_caller]
pub fn gradient<P: Elt, B: IntoExp<Elt: Floating>>(f: impl FnOnce(P::Exp) -> B, x: impl IntoExp<Elt = P>) -> Exp<P> {
    transform_exp("gradient", Arc::new(Gradient { with_value: false }), f, x.into_exp())
}

/// Inside scalar code: the value and the gradient of `f` at `x`. See [`gradient`].
#[track_caller]
pub fn value_and_gradient<P: Elt, B: IntoExp<Elt: Floating>>(
    f: impl FnOnce(P::Exp) -> B,
    x: impl IntoExp<Elt = P>,
) -> Exp<(B::Elt, P)> {
    transform_exp("value_and_gradient", Arc::new(Gradient { with_value: true }), f, x.into_exp())
}
