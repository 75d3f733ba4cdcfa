//! The Cholesky factor.

use super::batches::{RightSide, each_square};
#[cfg(feature = "linalg")]
use super::large;
use super::sizes::by_size;
use super::structure::tril;
use super::triangle::Triangle;
use super::triangular::{solved, with_right_sides};
use super::{M, Matrices, zero};
use crate::surface::attributed;
use crate::types::{Floating, Shape};
use crate::{
    Afun, Exp, Matrix, afun, aiterate_indexed, call, cond, custom_vjp, generate, lit, matmul, the, transpose, unit,
};
use std::panic::Location;

/// The lower triangular matrix L with positive diagonal and `L Lᵀ = a`, for a symmetric positive definite matrix `a`, of which the lower triangle is
/// read. In NumPy, `linalg.cholesky(a)`. A matrix that is not positive definite gives NaN.
///
/// The derivative is that of Murray (2016), equation 10: with `P = Lᵀ L̄` in the lower triangle and its diagonal halved, `L⁻ᵀ P L⁻¹`, made
/// symmetric.
///
/// ```
/// use accel::linalg::cholesky;
/// use accel::prelude::*;
///
/// let factor = afun(|a: Acc<Matrix<f64>>| cholesky(a));
/// assert_eq!(run(&factor, &Array::matrix(2, 2, vec![4.0, 2.0, 2.0, 10.0])?)?.to_vec(), [2.0, 0.0, 1.0, 3.0]);
/// assert!(run(&factor, &Array::matrix(1, 1, vec![-1.0])?)?.as_slice()[0].is_nan());
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn cholesky<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    let site = ("cholesky", Location::caller());
    attributed(site, || each_square(site, a, |a| call(factor(), a)))
}

/// The solution of `a x = b` for a matrix with the Cholesky factor `l`. `b` is a vector of n numbers or a matrix of n rows, and so is the result;
/// for a batch, there is one for each matrix. In SciPy, `cho_solve((l, True), b)`.
///
/// ```
/// use accel::linalg::{cho_solve, cholesky};
/// use accel::prelude::*;
///
/// let solve = afun(|a: Acc<Matrix<f64>>, b: Acc<Vector<f64>>| cho_solve(cholesky(a), b));
/// let (a, b) = (Array::matrix(2, 2, vec![4.0, 2.0, 2.0, 10.0])?, Array::vector(vec![6.0, 12.0]));
/// assert_eq!(run(&solve, (&a, &b))?.to_vec(), [1.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn cho_solve<Sh: Shape, T: Floating, B: RightSide<Sh, T>>(l: Matrices<Sh, T>, b: B) -> B {
    let site = ("cho_solve", Location::caller());
    let both = |l: M<T>, b: M<T>| solved(Triangle::Upper, transpose(l), solved(Triangle::Lower, l, b));
    attributed(site, || B::of_columns(with_right_sides(site, afun(both), l, b.columns())))
}

fn factor<T: Floating>() -> Afun<Matrix<T>, Matrix<T>> {
    custom_vjp(factored, |_, l: M<T>, dl| {
        let p = matmul(transpose(l), dl);
        let p = generate(p.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            cond(i.gt(k), p.at((i, k)), cond(i.eq(k), p.at((i, k)) * lit::<T>(0.5), zero::<T>()))
        });
        // L⁻ᵀ P, and from the right Pᵀ L⁻¹ as the transpose of L⁻ᵀ P.
        let left = solved(Triangle::Upper, transpose(l), p);
        let both = solved(Triangle::Upper, transpose(l), transpose(left));
        (both + transpose(both)) * lit::<T>(0.5)
    })
}

fn factored<T: Floating>(a: M<T>) -> M<T> {
    by_size!(a.shape().0, by_columns(a), large::cholesky(a))
}

/// Columns from the left to the right: each is divided by the root of its diagonal element, and its products leave the rest.
fn by_columns<T: Floating>(a: M<T>) -> M<T> {
    let step = |j: Exp<i64>, l: M<T>| {
        let root = unit(l.at((j, j)).sqrt());
        let column = generate(l.shape().0, |i: Exp<i64>| {
            cond(i.gt(j), l.at((i, j)) / the(root), cond(i.eq(j), the(root), zero::<T>()))
        });
        generate(l.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            let rest = l.at((i, k)) - column.at(i) * column.at(k);
            cond(k.eq(j), column.at(i), cond(k.gt(j).and(i.ge(k)), rest, l.at((i, k))))
        })
    };
    aiterate_indexed(a.shape().0, step, tril(a))
}
