//! Matrices by their structure: diagonals and triangles.

use super::{Matrices, Vectors};
use crate::surface::{attributed, index_head, index_tail, snoc};
use crate::types::{Elt, Num, Shape, Snoc};
use crate::{Acc, Array, Exp, IntoShape, Matrix, ToExp, cond, generate, lit, shape, sum};
use std::panic::Location;

/// The unit matrix with `n` rows: ones on the diagonal, zeros elsewhere. In NumPy, `eye(n)`.
///
/// ```
/// use accel::linalg::eye;
/// use accel::prelude::*;
///
/// let unit = run(&afun(|n: Acc<Scalar<i64>>| eye::<f64>(the(n))), &Array::scalar(2))?;
/// assert_eq!(unit.to_vec(), [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn eye<T: Num>(n: impl ToExp<i64>) -> Acc<Matrix<T>> {
    let n = n.to_exp();
    attributed(("eye", Location::caller()), || {
        generate((n, n), |(i, k): (Exp<i64>, Exp<i64>)| cond(i.eq(k), lit::<T>(1.0), lit::<T>(0.0)))
    })
}

/// The position in a batch, the row and the column of an index.
fn split<Sh: Shape>(ix: Exp<Snoc<Snoc<Sh>>>) -> (Exp<Sh>, Exp<i64>, Exp<i64>) {
    let outer = index_tail(ix);
    (index_tail(outer), index_head(outer), index_head(ix))
}

/// The matrix with the elements of a vector on its diagonal and zeros elsewhere; for vectors of the shape `[.., n]`, matrices of the shape
/// `[.., n, n]`. In NumPy, `diag(x)`.
///
/// ```
/// use accel::linalg::diag;
/// use accel::prelude::*;
///
/// let a = run(&afun(|x: Acc<Vector<f64>>| diag(x)), &Array::vector(vec![1.0, 2.0]))?;
/// assert_eq!(a.to_vec(), [1.0, 0.0, 0.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn diag<Sh: Shape, T: Num>(x: Vectors<Sh, T>) -> Matrices<Sh, T> {
    attributed(("diag", Location::caller()), || {
        let sh = shape(x);
        generate(snoc(sh, index_head(sh)), |ix| {
            let (outer, i, k) = split(ix.into_shape());
            cond(i.eq(k), x.at(snoc(outer, i)), lit::<T>(0.0))
        })
    })
}

/// The diagonal of a matrix, which need not be square; of a batch, all diagonals. In NumPy, `diagonal(a)`.
///
/// ```
/// use accel::linalg::diagonal;
/// use accel::prelude::*;
///
/// let x = run(&afun(|a: Acc<Matrix<f64>>| diagonal(a)), &Array::matrix(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?)?;
/// assert_eq!(x.to_vec(), [1.0, 5.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn diagonal<Sh: Shape, T: Elt>(a: Matrices<Sh, T>) -> Vectors<Sh, T> {
    attributed(("diagonal", Location::caller()), || {
        let (outer, n, m) = split(shape(a));
        generate(snoc(outer, n.min(m)), |ix| {
            let ix: Exp<Snoc<Sh>> = ix.into_shape();
            a.at(snoc(ix, index_head(ix)))
        })
    })
}

/// The sum of the elements on the diagonal; of a batch, all sums. In NumPy, `trace(a)`.
///
/// ```
/// use accel::linalg::trace;
/// use accel::prelude::*;
///
/// let x = run(&afun(|a: Acc<Matrix<f64>>| trace(a)), &Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0])?)?;
/// assert_eq!(x.item(), 5.0);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn trace<Sh: Shape, T: Num>(a: Matrices<Sh, T>) -> Acc<Array<Sh, T>> {
    attributed(("trace", Location::caller()), || sum(diagonal(a)))
}

/// The lower triangle with the diagonal, and zeros above. In NumPy, `tril(a)`.
///
/// ```
/// use accel::linalg::tril;
/// use accel::prelude::*;
///
/// let x = run(&afun(|a: Acc<Matrix<f64>>| tril(a)), &Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0])?)?;
/// assert_eq!(x.to_vec(), [1.0, 0.0, 3.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn tril<Sh: Shape, T: Num>(a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    attributed(("tril", Location::caller()), || kept(a, |i, k| i.ge(k)))
}

/// The upper triangle with the diagonal, and zeros below. In NumPy, `triu(a)`.
///
/// ```
/// use accel::linalg::triu;
/// use accel::prelude::*;
///
/// let x = run(&afun(|a: Acc<Matrix<f64>>| triu(a)), &Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0])?)?;
/// assert_eq!(x.to_vec(), [1.0, 2.0, 0.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn triu<Sh: Shape, T: Num>(a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    attributed(("triu", Location::caller()), || kept(a, |i, k| i.le(k)))
}

/// The elements whose row and column satisfy a condition, and zeros.
fn kept<Sh: Shape, T: Num>(a: Matrices<Sh, T>, keep: impl Fn(Exp<i64>, Exp<i64>) -> Exp<bool>) -> Matrices<Sh, T> {
    generate(shape(a), |ix| {
        let ix: Exp<Snoc<Snoc<Sh>>> = ix.into_shape();
        let (_, i, k) = split(ix);
        cond(keep(i, k), a.at(ix), lit::<T>(0.0))
    })
}

/// The Kronecker product of a matrix of the shape `[n, m]` and one of the shape `[p, q]`: the matrix of the shape `[n p, m q]` of all products
/// `a[i, j] b`. In NumPy, `kron(a, b)`.
///
/// ```
/// use accel::linalg::kron;
/// use accel::prelude::*;
///
/// let (a, b) = (Array::matrix(1, 2, vec![1.0, 10.0])?, Array::matrix(1, 2, vec![3.0, 4.0])?);
/// let x = run(&afun(|a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>| kron(a, b)), (&a, &b))?;
/// assert_eq!(x.to_vec(), [3.0, 4.0, 30.0, 40.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn kron<T: Num>(a: Acc<Matrix<T>>, b: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    attributed(("kron", Location::caller()), || {
        let ((n, m), (p, q)) = (a.shape(), b.shape());
        generate((n * p, m * q), |(i, k): (Exp<i64>, Exp<i64>)| a.at((i / p, k / q)) * b.at((i % p, k % q)))
    })
}
