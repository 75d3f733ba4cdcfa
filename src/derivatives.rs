//! Derivatives of whole programs: simplified, differentiated, and simplified again.

use accel_core::afun::Afun;
use accel_core::prelude::Scalar;
use accel_core::types::{Arrays, Floating};
use accel_fusion::{simplified, simplified_derivative};

/// The gradient of a program whose result is one floating-point number: a program of the same argument, whose result has
/// the type of the argument. Discrete parts of it (integers, booleans) are zero; the sign of a zero is left open.
///
/// Reverse mode: the cost is a small multiple of the program's own, however large the argument is.
///
/// # Errors
/// Kept in the result and reported when it is run: an operation without a reverse derivative (`scan`, `permute`, loops), with
/// its source line; the errors of `prog` itself.
pub fn grad<A: Arrays, T: Floating>(prog: &Afun<A, Scalar<T>>) -> Afun<A, A> {
    simplified_derivative(&accel_ad::grad(&simplified(prog)))
}

/// The value and the gradient of a program in one: the value is computed once. See [`grad`].
pub fn value_and_grad<A: Arrays, T: Floating>(prog: &Afun<A, Scalar<T>>) -> Afun<A, (Scalar<T>, A)> {
    simplified_derivative(&accel_ad::value_and_grad(&simplified(prog)))
}

/// The vector-Jacobian product of a program with any result: from the argument and the adjoint of the result (which must
/// have the result's shapes) to the adjoint of the argument. Errors as for [`grad`].
pub fn vjp<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> Afun<(A, R), A> {
    simplified_derivative(&accel_ad::vjp(&simplified(prog)))
}

/// The Jacobian-vector product of a program: from the argument and a tangent of the same shapes to the result and its
/// tangent. Forward mode; covers the whole language.
pub fn jvp<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> Afun<(A, A), (R, R)> {
    simplified_derivative(&accel_ad::jvp(&simplified(prog)))
}
