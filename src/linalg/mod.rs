//! Linear algebra: factorisations, systems of equations, determinants, eigenvalues and singular values, and functions of matrices.
//!
//! All functions are programs of the language, on every backend, and have derivatives of any order in both modes. They take one matrix, or an array
//! with leading dimensions: a batch of matrices, of which each is treated alone, side by side as [`vmap`](crate::vmap) does. Elements are
//! `f32` or `f64`.
//!
//! Derivatives are computed by the rules of the function, not through its steps (see [`custom_vjp`](crate::custom_vjp)): from the factors that the
//! value already has, in the time of a few products of matrices. The adjoint of an argument that must be symmetric is symmetric, as in JAX and
//! Stan.
//!
//! A matrix without the required property gives NaN, so that a line search can go on: the Cholesky factor of a matrix that is not positive definite
//! has NaN, and so has the solution of a singular system (or infinities); the forms with `try_` fail instead. Matrices of other shapes than required are an error
//! when the program runs, with the line of the call. A matrix without elements is no error.
//!
//! Steps of a factorisation are whole matrices, so small matrices, and batches of them, are fast; a matrix of n rows takes n steps. With the
//! feature `linalg`, matrices of more than 32 rows are factorised by the library `faer`, on the host.
//!
//! ```
//! use accel::linalg::{cholesky, solve_triangular, Triangle};
//! use accel::prelude::*;
//!
//! // The log density of a normal distribution with mean 0, up to a constant.
//! let density = afun(|x: Acc<Vector<f64>>, covariance: Acc<Matrix<f64>>| {
//!     let l = cholesky(covariance);
//!     let z = solve_triangular(Triangle::Lower, l, x);
//!     dot(z, z) * -0.5 - sum(accel::linalg::diagonal(l).ln())
//! });
//! let (x, covariance) = (Array::vector(vec![1.0, 2.0]), Array::matrix(2, 2, vec![2.0, 1.0, 1.0, 3.0])?);
//! let (by_x, by_covariance) = run(grad(&density), (&x, &covariance))?;
//! // -S⁻¹ x, and (S⁻¹ x xᵀ S⁻¹ - S⁻¹) / 2.
//! let close = |found: &[f64], expected: &[f64]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
//! assert!(close(by_x.as_slice(), &[-0.2, -0.6]));
//! assert!(close(by_covariance.as_slice(), &[-0.28, 0.16, 0.16, -0.02]));
//! # Ok::<(), Error>(())
//! ```

mod banded;
mod batches;
mod cholesky;
mod eigenvalues;
mod functions;
#[cfg(feature = "linalg")]
mod large;
mod lu;
mod qr;
mod rotations;
mod singular_values;
mod sizes;
mod structure;
mod triangle;
mod triangular;
mod tridiagonal;
mod tried;

pub use banded::{cho_solve_banded, cholesky_banded};
pub use batches::RightSide;
pub use cholesky::{cho_solve, cholesky};
pub use eigenvalues::{eigh, eigvalsh};
pub use functions::{expm, matrix_power};
pub use lu::{det, inv, slogdet, solve};
pub use qr::{lstsq, qr};
pub use singular_values::{pinv, svd};
pub use structure::{diag, diagonal, eye, kron, trace, tril, triu};
pub use triangle::Triangle;
pub use triangular::solve_triangular;
pub use tridiagonal::solve_tridiagonal;
pub use tried::{try_cholesky, try_inv, try_solve};

use crate::types::{Dim3, Floating, Snoc};
use crate::{Acc, Array, Exp, Matrix, Scalar, Vector, fold, lit};

/// Matrices, one or a batch.
type Matrices<Sh, T> = Acc<Array<Snoc<Snoc<Sh>>, T>>;
/// Vectors, one or a batch.
type Vectors<Sh, T> = Acc<Array<Snoc<Sh>, T>>;
/// One matrix.
type M<T> = Acc<Matrix<T>>;
/// One vector.
type V<T> = Acc<Vector<T>>;
/// A list of matrices.
type List<T> = Acc<Array<Dim3, T>>;

/// NOTE [Orders of rules]: the derivative of a solution is again a solution, of the transposed system. A rule is recorded with its function, so a rule that
/// used its own function would never end. Instead, the rule of order n uses the function with the rule of order n - 1, and derivatives of higher orders go
/// through the steps of the function.
const ORDERS: usize = 2;

fn zero<T: Floating>() -> Exp<T> {
    lit(0.0)
}

/// The largest of some numbers that are not negative; 0 if there are none.
fn largest<T: Floating>(x: V<T>) -> Acc<Scalar<T>> {
    fold(|x: Exp<T>, y: Exp<T>| x.max(y), zero::<T>(), x)
}

fn one<T: Floating>() -> Exp<T> {
    lit(1.0)
}
