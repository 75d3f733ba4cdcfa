//! Eigenvalues of symmetric matrices, by Jacobi's rotations.

use super::batches::{each, extents, matrices, matrices_of, outer, square, vectors_of};
#[cfg(feature = "linalg")]
use super::large;
use super::rotations::{Round, SWEEPS, precision, rounds};
use super::sizes::by_size;
use super::structure::{diag, diagonal, eye};
use super::{M, Matrices, V, Vectors, zero};
use crate::surface::attributed;
use crate::types::{Floating, Shape};
use crate::{
    Acc, Afun, Exp, Matrix, Scalar, Vector, aiterate_indexed, argsort, awhile, call, cond, custom_vjp, gather,
    generate, lit, map, matmul, sum_all, the, transpose, unit,
};
use std::panic::Location;

/// The eigenvalues of a symmetric matrix, of which the lower triangle is read, in ascending order, and the eigenvectors in the columns of a matrix; of a
/// batch, all of them. In NumPy, `linalg.eigh(a)`. The sign of an eigenvector is any.
///
/// The derivative is that of Giles (2008), section 3.1, made symmetric: `ā = V (diag(w̄) + F ∘ Vᵀ V̄) Vᵀ` with `F[i, j] = 1 / (w[j] - w[i])`, and 0 where two
/// eigenvalues are equal. So the derivative of a function that does not depend on the choice of eigenvectors is right for equal eigenvalues,
/// too, unless it separates them.
///
/// ```
/// use accel::linalg::eigh;
/// use accel::prelude::*;
///
/// let a = Array::matrix(2, 2, vec![2.0, 1.0, 1.0, 2.0])?;
/// let (values, vectors) = run(&afun(|a: Acc<Matrix<f64>>| eigh(a)), &a)?;
/// assert!((values.as_slice()[0] - 1.0).abs() < 1e-12 && (values.as_slice()[1] - 3.0).abs() < 1e-12);
/// assert!((vectors.as_slice()[0] + vectors.as_slice()[2]).abs() < 1e-12); // (1, -1) / √2
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn eigh<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> (Vectors<Sh, T>, Matrices<Sh, T>) {
    let site = ("eigh", Location::caller());
    attributed(site, || {
        let a = square(site, a);
        each(
            a,
            matrices,
            |a| call(eigen(), a),
            |(values, vectors)| {
                (vectors_of(outer(a), extents(a).0, values), matrices_of(outer(a), extents(a), vectors))
            },
        )
    })
}

/// The eigenvalues of a symmetric matrix, of which the lower triangle is read, in ascending order; of a batch, all of them. In NumPy,
/// `linalg.eigvalsh(a)`. See [`eigh`].
///
/// ```
/// use accel::linalg::eigvalsh;
/// use accel::prelude::*;
///
/// // The derivative of the largest eigenvalue is the square of its eigenvector.
/// let largest = afun(|a: Acc<Matrix<f64>>| maximum(eigvalsh(a)));
/// let da = run(grad(&largest), &Array::matrix(2, 2, vec![2.0, 1.0, 1.0, 2.0])?)?;
/// assert!(da.to_vec().iter().all(|x| (x - 0.5).abs() < 1e-12));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn eigvalsh<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> Vectors<Sh, T> {
    let site = ("eigvalsh", Location::caller());
    attributed(site, || eigh(square(site, a)).0)
}

fn eigen<T: Floating>() -> Afun<Matrix<T>, (Vector<T>, Matrix<T>)> {
    custom_vjp(decomposed, |_, (w, v): (V<T>, M<T>), (dw, dv): (V<T>, M<T>)| {
        let turns = matmul(transpose(v), dv);
        let inner = generate(turns.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            let gap = w.at(k) - w.at(i);
            cond(gap.eq(zero::<T>()), zero::<T>(), turns.at((i, k)) / gap)
        });
        let da = matmul(matmul(v, diag(dw) + inner), transpose(v));
        (da + transpose(da)) * lit::<T>(0.5)
    })
}

fn decomposed<T: Floating>(a: M<T>) -> (V<T>, M<T>) {
    by_size!(a.shape().0, rotated(a), large::eigh(a))
}

/// Sweeps until what is not on the diagonal is smaller than the rounding: NOTE [Rounds of pairs].
fn rotated<T: Floating>(a: M<T>) -> (V<T>, M<T>) {
    let n = a.shape().0;
    let a = generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| a.at((i.max(k), i.min(k))));
    let round = |r: Exp<i64>, (a, v): (M<T>, M<T>)| {
        let round = Round::new(n, r, |p, q| (a.at((p, p)), a.at((p, q)), a.at((q, q))));
        (round.rows(round.columns(a)), round.columns(v))
    };
    type State<T> = (M<T>, M<T>, Acc<Scalar<i64>>);
    let goes_on = |(a, _, sweeps): State<T>| {
        let squares = |off: bool| {
            sum_all(generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
                let x = a.at((i, k));
                if off { cond(i.eq(k), zero::<T>(), x * x) } else { x * x }
            }))
        };
        the(squares(true)).gt(the(squares(false)) * precision::<T>(n).powi(2)).and(the(sweeps).lt(SWEEPS))
    };
    let sweep = |(a, v, sweeps): State<T>| {
        let (a, v) = aiterate_indexed(rounds(n), round, (a, v));
        (a, v, map(|s: Exp<i64>| s + 1, sweeps))
    };
    let (a, v, _) = awhile(goes_on, sweep, (a, eye(n), unit(0i64)));
    let values = diagonal(a);
    let order = argsort(values);
    (gather(order, values), generate(v.shape(), |(i, k): (Exp<i64>, Exp<i64>)| v.at((i, order.at(k)))))
}
