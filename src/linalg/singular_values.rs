//! Singular values, by rotations of columns, and the pseudoinverse.

use super::batches::{each, extents, matrices, matrices_of, outer, vectors_of};
#[cfg(feature = "linalg")]
use super::large;
use super::qr;
use super::rotations::{Round, SWEEPS, partner, precision, rounds};
use super::sizes::by_size;
use super::structure::{diag, eye};
use super::{M, Matrices, V, Vectors, largest, one, zero};
use crate::surface::attributed;
use crate::types::{Floating, Shape};
use crate::{
    Acc, Afun, Exp, Matrix, Scalar, Vector, acond, aiterate_indexed, argsort_descending, awhile, call, cond,
    custom_vjp, gather, generate, map, matmul, sum, the, transpose, unit, zip_with,
};
use std::panic::Location;

/// The singular values of a matrix in descending order, between the orthonormal columns of U and the orthonormal rows of Vᵀ: `a = U diag(s) Vᵀ`. For a matrix of
/// the shape `[n, m]`, the results have the shapes `[n, k]`, `[k]` and `[k, m]`, where k is the smaller one of n and m; for a batch, there are three for each
/// matrix. In NumPy, `linalg.svd(a, full_matrices=False)`. The sign of a column of U and its row of Vᵀ is any.
///
/// The method is that of Hestenes (1958). It computes small singular values to a high relative precision. The derivative is that of Townsend
/// (2016), with `F[i, j] = 1 / (s[j]² - s[i]²)`, and 0 where two singular values are equal (as in [`eigh`](super::eigh)); by zeros it is not a number.
///
/// ```
/// use accel::linalg::svd;
/// use accel::prelude::*;
///
/// let a = Array::matrix(2, 2, vec![0.0, 2.0, 3.0, 0.0])?;
/// let (_, s, _) = run(&afun(|a: Acc<Matrix<f64>>| svd(a)), &a)?;
/// assert_eq!(s.to_vec(), [3.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn svd<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> (Matrices<Sh, T>, Vectors<Sh, T>, Matrices<Sh, T>) {
    attributed(("svd", Location::caller()), || {
        each(
            a,
            matrices,
            |a| call(decomposition(), a),
            |(u, s, vt)| {
                let (n, m) = extents(a);
                let k = n.min(m);
                (matrices_of(outer(a), (n, k), u), vectors_of(outer(a), k, s), matrices_of(outer(a), (k, m), vt))
            },
        )
    })
}

/// The pseudoinverse of Moore and Penrose of a matrix; of a batch, all of them. In NumPy, `linalg.pinv(a)`. Singular values below the largest one times its
/// rounding are taken for zeros.
///
/// The derivative is that of Golub and Pereyra (1973), for matrices whose rank does not change.
///
/// ```
/// use accel::linalg::pinv;
/// use accel::prelude::*;
///
/// let a = Array::matrix(1, 2, vec![3.0, 4.0])?;
/// let p = run(&afun(|a: Acc<Matrix<f64>>| pinv(a)), &a)?;
/// assert!((p.to_vec()[0] - 0.12).abs() < 1e-12 && (p.to_vec()[1] - 0.16).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn pinv<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    attributed(("pinv", Location::caller()), || {
        each(
            a,
            matrices,
            |a| call(pseudoinverse(), a),
            |all| {
                let (n, m) = extents(a);
                matrices_of(outer(a), (m, n), all)
            },
        )
    })
}

fn decomposition<T: Floating>() -> Afun<Matrix<T>, (Matrix<T>, Vector<T>, Matrix<T>)> {
    type Parts<T> = (M<T>, V<T>, M<T>);
    custom_vjp(decomposed, |_, (u, s, vt): Parts<T>, (du, ds, dvt): Parts<T>| {
        let (v, dv) = (transpose(vt), transpose(dvt));
        // What turns the columns of U and of V among themselves.
        let turns = |x: M<T>, dx: M<T>| {
            let all = matmul(transpose(x), dx);
            generate(all.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
                let gap = s.at(k) * s.at(k) - s.at(i) * s.at(i);
                cond(gap.eq(zero::<T>()), zero::<T>(), (all.at((i, k)) - all.at((k, i))) / gap)
            })
        };
        let (by_u, by_v) = (turns(u, du), turns(v, dv));
        let inner = generate(by_u.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            let ds = cond(i.eq(k), ds.at(i), zero::<T>());
            by_u.at((i, k)) * s.at(k) + s.at(i) * by_v.at((i, k)) + ds
        });
        // What turns them out of the spaces that they span.
        let outside = |x: M<T>, dx: M<T>| {
            let rest = dx - matmul(x, matmul(transpose(x), dx));
            generate(rest.shape(), |(i, k): (Exp<i64>, Exp<i64>)| rest.at((i, k)) / s.at(k))
        };
        matmul(matmul(u, inner), vt) + matmul(outside(u, du), vt) + matmul(u, transpose(outside(v, dv)))
    })
}

fn decomposed<T: Floating>(a: M<T>) -> (M<T>, V<T>, M<T>) {
    by_size!(a.shape().0.min(a.shape().1), by_rotations(a), large::svd(a))
}

/// The decomposition of a matrix, or of its transpose if that has fewer columns.
fn by_rotations<T: Floating>(a: M<T>) -> (M<T>, V<T>, M<T>) {
    let (n, m) = a.shape();
    let (u, s, v) = rotated(acond(n.ge(m), a, transpose(a)));
    let (left, right) = acond(n.ge(m), (u, v), (v, u));
    (left, s, transpose(right))
}

/// U, s and V of a matrix with at least as many rows as columns. Sweeps rotate its columns until they are orthogonal: NOTE [Rounds of pairs].
fn rotated<T: Floating>(a: M<T>) -> (M<T>, V<T>, M<T>) {
    let m = a.shape().1;
    let round = |r: Exp<i64>, (w, v, cosine): (M<T>, M<T>, Acc<Scalar<T>>)| {
        let columns = transpose(w);
        let squares = sum(columns.powi(2));
        let products = sum(generate(columns.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            columns.at((i, k)) * columns.at((partner(i, r, m), k))
        }));
        let round = Round::new(m, r, |p, q| (squares.at(p), products.at(p), squares.at(q)));
        let cosines = generate(m, |i: Exp<i64>| {
            let other = partner(i, r, m);
            let lengths = (squares.at(i) * squares.at(other)).sqrt();
            cond(other.eq(i).or(lengths.eq(zero::<T>())), zero::<T>(), products.at(i).abs() / lengths)
        });
        (round.columns(w), round.columns(v), zip_with(|x: Exp<T>, y: Exp<T>| x.max(y), cosine, largest(cosines)))
    };
    type State<T> = (M<T>, M<T>, Acc<Scalar<T>>, Acc<Scalar<i64>>);
    let goes_on = |(_, _, cosine, sweeps): State<T>| the(cosine).gt(precision(m)).and(the(sweeps).lt(SWEEPS));
    let sweep = |(w, v, _, sweeps): State<T>| {
        let (w, v, cosine) = aiterate_indexed(rounds(m), round, (w, v, unit(zero::<T>())));
        (w, v, cosine, map(|s: Exp<i64>| s + 1, sweeps))
    };
    let (w, v, _, _) = awhile(goes_on, sweep, (a, eye(m), unit(one::<T>()), unit(0i64)));
    let lengths = sum(transpose(w).powi(2)).sqrt();
    let order = argsort_descending(lengths);
    let s = gather(order, lengths);
    let unit_columns = generate(w.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
        cond(s.at(k).gt(zero::<T>()), w.at((i, order.at(k))) / s.at(k), zero::<T>())
    });
    // The columns are orthogonal, so Q has them up to their signs, and others in the place of zeros.
    let (q, r) = qr::factored(unit_columns);
    let u = generate(q.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
        cond(r.at((k, k)).lt(zero::<T>()), -q.at((i, k)), q.at((i, k)))
    });
    (u, s, generate(v.shape(), |(i, k): (Exp<i64>, Exp<i64>)| v.at((i, order.at(k)))))
}

fn pseudoinverse<T: Floating>() -> Afun<Matrix<T>, Matrix<T>> {
    let f = |a: M<T>| {
        let (n, m) = a.shape();
        let (u, s, vt) = decomposed(a);
        let largest = largest(s);
        let inverse = map(|x: Exp<T>| cond(x.gt(the(largest) * precision(n.max(m))), one::<T>() / x, zero::<T>()), s);
        matmul(matmul(transpose(vt), diag(inverse)), transpose(u))
    };
    custom_vjp(f, |a: M<T>, p: M<T>, dp: M<T>| {
        let (n, m) = a.shape();
        let (pt, dpt) = (transpose(p), transpose(dp));
        let (left, right) = (eye(n) - matmul(a, p), eye(m) - matmul(p, a));
        let first = matmul(matmul(left, dpt), matmul(p, pt));
        let second = matmul(matmul(pt, p), matmul(dpt, right));
        first + second - matmul(matmul(pt, dp), pt)
    })
}
