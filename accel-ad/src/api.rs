//! The derivative functions that users call, on typed programs and in scalar code.

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

/// Returns the gradient of a program whose result is one floating-point number.
///
/// The gradient is a program with the same argument. Its result has the type and the shapes of the argument. Discrete
/// parts of the result (integers, booleans) are zero.
///
/// This is reverse mode: the cost is a small multiple of the cost of `prog`, however large the argument is (thesis
/// chapter 3).
///
/// # Errors
/// The error is stored in the result and reported when the result is run: an operation without a reverse derivative
/// (loops), with its source line, or an error of `prog` itself.
pub fn grad<A: Arrays, T: Floating>(prog: &Afun<A, Scalar<T>>) -> Afun<A, A> {
    derived(prog, |p| reverse_mode(p, Reverse::Gradient))
}

/// Returns the program that computes the value and the gradient together; the value is computed once. See [`grad`].
pub fn value_and_grad<A: Arrays, T: Floating>(prog: &Afun<A, Scalar<T>>) -> Afun<A, (Scalar<T>, A)> {
    derived(prog, |p| reverse_mode(p, Reverse::ValueAndGradient))
}

/// Returns the vector-Jacobian product of a program with any result (reverse mode).
///
/// It maps the argument and the adjoint of the result to the adjoint of the argument. If the adjoint of the result has
/// other shapes than the result, this is an error when the program runs. Other errors are those of [`grad`].
#[track_caller]
pub fn vjp<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> Afun<(A, R), A> {
    let at = Some(Location::caller());
    derived(prog, |p| reverse_mode(p, Reverse::Pullback { at }))
}

/// Returns the Jacobian-vector product of a program: its result and the directional derivative (forward mode).
///
/// It maps the argument and a tangent of the same shapes to the result and its tangent. If the tangent has other
/// shapes, this is an error when the program runs. Forward mode supports the whole language.
#[track_caller]
pub fn jvp<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> Afun<(A, A), (R, R)> {
    let at = Some(Location::caller());
    derived(prog, |p| forward_mode(p, at))
}

/// Transforms the typed program; errors are stored.
fn derived<A, R, B: Arrays, S: Arrays>(prog: &Afun<A, R>, d: impl FnOnce(&Program) -> Result<Program>) -> Afun<B, S> {
    Afun::from_result(prog.program().and_then(d))
}

/// The gradient of `f` at `x` in scalar code (the thesis's `gradientE`).
///
/// For a tuple or record `x`, the result is the tuple or record of the partial derivatives: `let (dx, dy) =
/// gradient(|(x, y)| x * y, (x, y)).unlift()`. `f` may use variables and arrays of the surrounding program; the
/// derivative is only with respect to `x`. Discrete parts of the result are zero.
///
/// # Errors
/// Reported when the surrounding program is run: a loop between `x` and the result.
#[track_caller]
pub fn gradient<P: Elt, B: IntoExp<Elt: Floating>>(f: impl FnOnce(P::Exp) -> B, x: impl IntoExp<Elt = P>) -> Exp<P> {
    transform_exp("gradient", Arc::new(Gradient { with_value: false }), f, x.into_exp())
}

/// The value and the gradient of `f` at `x` in scalar code. See [`gradient`].
#[track_caller]
pub fn value_and_gradient<P: Elt, B: IntoExp<Elt: Floating>>(
    f: impl FnOnce(P::Exp) -> B,
    x: impl IntoExp<Elt = P>,
) -> Exp<(B::Elt, P)> {
    transform_exp("value_and_gradient", Arc::new(Gradient { with_value: true }), f, x.into_exp())
}
