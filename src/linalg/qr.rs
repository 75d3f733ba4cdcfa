//! The QR factorisation by Householder's reflections, and least squares.

use super::batches::{RightSide, each, extents, matrices, matrices_of, outer};
#[cfg(feature = "linalg")]
use super::large;
use super::sizes::by_size;
use super::structure::tril;
use super::triangle::Triangle;
use super::triangular::solved;
use super::{M, Matrices, V, one, zero};
use crate::repr::Agreement;
use crate::surface::{agree, attributed};
use crate::types::{Floating, Shape};
use crate::{
    Acc, Afun, All, Exp, Matrix, Scalar, aiterate_indexed, call, cond, custom_vjp, dot, fill, generate, lit, map,
    matmul, matvec, norm, set_row, slice, the, transpose, unit,
};
use std::panic::Location;

/// The factors Q and R of a matrix `a = Q R`: Q has orthonormal columns, R is upper triangular. For a matrix of the shape `[n, m]`, they have the shapes
/// `[n, k]` and `[k, m]`, where k is the smaller one of n and m; for a batch, there are two for each matrix. In NumPy, `linalg.qr(a)`.
///
/// The derivative is for matrices of full column rank, n ≥ m: `ā = (Q̄ + Q copyltu(M)) R⁻ᵀ` with `M = R R̄ᵀ - Q̄ᵀ Q`, whose lower triangle
/// `copyltu` copies to the upper one (Walter and Lehmann 2010; Seeger and others 2017, section 4). Of other matrices, it is not a number.
///
/// ```
/// use accel::linalg::qr;
/// use accel::prelude::*;
///
/// let a = Array::matrix(2, 2, vec![3.0, 1.0, 4.0, 2.0])?;
/// let product = afun(|a: Acc<Matrix<f64>>| {
///     let (q, r) = qr(a);
///     (matmul(q, r), matmul(transpose(q), q))
/// });
/// let (product, unit) = run(&product, &a)?;
/// assert!(product.to_vec().iter().zip(a.as_slice()).all(|(x, y)| (x - y).abs() < 1e-12));
/// assert!(unit.to_vec().iter().zip([1.0, 0.0, 0.0, 1.0]).all(|(x, y): (&f64, f64)| (x - y).abs() < 1e-12));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn qr<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> (Matrices<Sh, T>, Matrices<Sh, T>) {
    attributed(("qr", Location::caller()), || {
        each(
            a,
            matrices,
            |a| call(factors(), a),
            |(q, r)| {
                let (n, m) = extents(a);
                (matrices_of(outer(a), (n, n.min(m)), q), matrices_of(outer(a), (n.min(m), m), r))
            },
        )
    })
}

/// The vector x for which `a x` is nearest to `b` in the sum of squares, for a matrix `a` of full column rank with at least as many rows as columns. `b` is a
/// vector or a matrix of as many rows, of which each column has its own solution; for a batch, there is one for each matrix. In NumPy,
/// `linalg.lstsq(a, b)[0]`. For other matrices, [`pinv`](super::pinv) times `b` is the solution of the least norm.
///
/// ```
/// use accel::linalg::lstsq;
/// use accel::prelude::*;
///
/// // The line through (0, 1), (1, 3), (2, 5).
/// let fit = afun(|a: Acc<Matrix<f64>>, b: Acc<Vector<f64>>| lstsq(a, b));
/// let (a, b) = (Array::matrix(3, 2, vec![0.0, 1.0, 1.0, 1.0, 2.0, 1.0])?, Array::vector(vec![1.0, 3.0, 5.0]));
/// let line = run(&fit, (&a, &b))?.to_vec();
/// assert!((line[0] - 2.0).abs() < 1e-12 && (line[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn lstsq<Sh: Shape, T: Floating, B: RightSide<Sh, T>>(a: Matrices<Sh, T>, b: B) -> B {
    let site = ("lstsq", Location::caller());
    attributed(site, || {
        // The rows of both.
        let b = b.columns();
        let one = |(a, b): (M<T>, M<T>)| {
            let b = agree(site, Agreement::Rows, a, b);
            let (q, r) = call(factors(), a);
            solved(Triangle::Upper, r, matmul(transpose(q), b))
        };
        let lists = |(a, b)| (matrices(a), matrices(b));
        B::of_columns(each((a, b), lists, one, |all| matrices_of(outer(b), (extents(a).1, extents(b).1), all)))
    })
}

pub(super) fn factors<T: Floating>() -> Afun<Matrix<T>, (Matrix<T>, Matrix<T>)> {
    custom_vjp(factored, |_, (q, r): (M<T>, M<T>), (dq, dr): (M<T>, M<T>)| {
        let m = matmul(r, transpose(dr)) - matmul(transpose(dq), q);
        let lower = tril(m);
        let copied = generate(m.shape(), |(i, k): (Exp<i64>, Exp<i64>)| lower.at((i.max(k), i.min(k))));
        // Times R⁻ᵀ from the right.
        transpose(solved(Triangle::Upper, r, transpose(dq + matmul(q, copied))))
    })
}

pub(super) fn factored<T: Floating>(a: M<T>) -> (M<T>, M<T>) {
    by_size!(a.shape().0.min(a.shape().1), by_columns(a), large::qr(a))
}

/// Each step reflects a column to a multiple of a unit vector. Q is the product of the reflections.
fn by_columns<T: Floating>(a: M<T>) -> (M<T>, M<T>) {
    let (n, m) = a.shape();
    let k = n.min(m);
    let step = |j: Exp<i64>, (r, mirrors): (M<T>, M<T>)| {
        let mirror = mirror(generate(n, |i: Exp<i64>| cond(i.ge(j), r.at((i, j)), zero::<T>())), j);
        (reflected(r, mirror), set_row(mirrors, j, mirror))
    };
    let (r, mirrors) = aiterate_indexed(k, step, (a, fill((k, n), zero::<T>())));
    let back = |j: Exp<i64>, q: M<T>| reflected(q, slice((k - 1 - j, All), mirrors));
    let start = generate((n, k), |(i, j): (Exp<i64>, Exp<i64>)| cond(i.eq(j), one::<T>(), zero::<T>()));
    let r = generate((k, m), |(i, j): (Exp<i64>, Exp<i64>)| cond(i.le(j), r.at((i, j)), zero::<T>()));
    (aiterate_indexed(k, back, start), r)
}

/// The vector v of length √2 for which the reflection `I - v vᵀ` turns x, which is zero before element j, into a multiple of the unit vector j; zero if x is.
fn mirror<T: Floating>(x: V<T>, j: Exp<i64>) -> V<T> {
    let length: Acc<Scalar<T>> = norm(x);
    let end = unit(cond(x.at(j).ge(zero::<T>()), -the(length), the(length)));
    let v = generate(x.len(), |i: Exp<i64>| x.at(i) - cond(i.eq(j), the(end), zero::<T>()));
    let square = dot(v, v);
    let scale = map(|s: Exp<T>| cond(s.gt(zero::<T>()), (lit::<T>(2.0) / s).sqrt(), s), square);
    map(|x| x * the(scale), v)
}

/// `(I - v vᵀ) a`.
fn reflected<T: Floating>(a: M<T>, v: V<T>) -> M<T> {
    let products = matvec(transpose(a), v);
    generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| a.at((i, k)) - v.at(i) * products.at(k))
}
