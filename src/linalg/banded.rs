//! Symmetric matrices with a few diagonals.

use super::{M, V, zero};
use crate::surface::attributed;
use crate::types::Floating;
use crate::{Exp, aiterate_indexed, cond, fill, generate, set, set_row, sum, sum_all, the, transpose, unit};
use std::panic::Location;

/// The Cholesky factor of a symmetric positive definite matrix with w diagonals below its main one. `bands` has w + 1 rows of n numbers: `bands[k, i]` is the
/// element in row i + k and column i, and what would be below the matrix is not read. The result has the same form. In SciPy,
/// `linalg.cholesky_banded(bands, lower=True)`. It takes n w² operations; a matrix that is not positive definite gives NaN.
///
/// For a batch, use [`vmap`](crate::vmap()).
///
/// ```
/// use accel::linalg::{cho_solve_banded, cholesky_banded};
/// use accel::prelude::*;
///
/// // The matrix with 2 on the diagonal and -1 beside it.
/// let solve = afun(|bands: Acc<Matrix<f64>>, b: Acc<Vector<f64>>| cho_solve_banded(cholesky_banded(bands), b));
/// let bands = Array::matrix(2, 3, vec![2.0, 2.0, 2.0, -1.0, -1.0, 0.0])?;
/// let x = run(&solve, (&bands, &Array::vector(vec![0.0, 0.0, 4.0])))?;
/// assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(x, y)| (x - y).abs() < 1e-12));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn cholesky_banded<T: Floating>(bands: M<T>) -> M<T> {
    attributed(("cholesky_banded", Location::caller()), || {
        let (rows, n) = bands.shape();
        let step = |j: Exp<i64>, l: M<T>| {
            // Column j without the products of the columns before it.
            let products = generate((rows, rows - 1), |(k, m): (Exp<i64>, Exp<i64>)| {
                let (before, m) = (j - 1 - m, m + 1);
                let is_inside = before.ge(0).and((k + m).lt(rows));
                let column = before.max(0);
                cond(is_inside, l.at((column, (k + m).min(rows - 1))) * l.at((column, m)), zero::<T>())
            });
            let products = sum(products);
            let rest =
                generate(rows, |k: Exp<i64>| cond((j + k).lt(n), bands.at((k, j)) - products.at(k), zero::<T>()));
            let root = unit(rest.at(0).sqrt());
            set_row(l, j, generate(rows, |k: Exp<i64>| cond(k.eq(0), the(root), rest.at(k) / the(root))))
        };
        transpose(aiterate_indexed(n, step, fill((n, rows), zero::<T>())))
    })
}

/// The solution of `a x = b` for a matrix with the factor `l` of [`cholesky_banded`]. In SciPy, `linalg.cho_solve_banded((l, True), b)`.
#[track_caller]
pub fn cho_solve_banded<T: Floating>(l: M<T>, b: V<T>) -> V<T> {
    attributed(("cho_solve_banded", Location::caller()), || {
        let (rows, n) = l.shape();
        let down = |j: Exp<i64>, y: V<T>| {
            let known = sum_all(generate(rows - 1, |m: Exp<i64>| {
                let i = j - 1 - m;
                cond(i.ge(0), l.at((m + 1, i.max(0))) * y.at(i.max(0)), zero::<T>())
            }));
            set(y, j, (b.at(j) - the(known)) / l.at((0, j)))
        };
        let y = aiterate_indexed(n, down, fill(n, zero::<T>()));
        let up = |k: Exp<i64>, x: V<T>| {
            let j = n - 1 - k;
            let known = sum_all(generate(rows - 1, |m: Exp<i64>| {
                let i = j + 1 + m;
                cond(i.lt(n), l.at((m + 1, j)) * x.at(i.min(n - 1)), zero::<T>())
            }));
            set(x, j, (y.at(j) - the(known)) / l.at((0, j)))
        };
        aiterate_indexed(n, up, fill(n, zero::<T>()))
    })
}
