//! Powers and the exponential of a matrix.

use super::batches::each_square;
use super::lu::{inverse, solution};
use super::structure::eye;
use super::{M, Matrices, largest};
use crate::surface::attributed;
use crate::types::{Floating, Shape};
use crate::{Exp, aiterate, cond, lit, map, matmul, sum, the, transpose, unit};
use std::panic::Location;

/// The matrix `a` to the integer power `n`, by repeated squares: the unit matrix for 0, powers of the inverse for negative ones; of a batch, all powers. In
/// NumPy, `linalg.matrix_power(a, n)`.
///
/// ```
/// use accel::linalg::matrix_power;
/// use accel::prelude::*;
///
/// let fibonacci = afun(|a: Acc<Matrix<f64>>| matrix_power(a, 10));
/// assert_eq!(run(&fibonacci, &Array::matrix(2, 2, vec![1.0, 1.0, 1.0, 0.0])?)?.to_vec(), [89.0, 55.0, 55.0, 34.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn matrix_power<Sh: Shape, T: Floating>(a: Matrices<Sh, T>, n: i32) -> Matrices<Sh, T> {
    let site = ("matrix_power", Location::caller());
    attributed(site, || each_square(site, a, |a| power(if n < 0 { inverse(a) } else { a }, n.unsigned_abs())))
}

fn power<T: Floating>(a: M<T>, n: u32) -> M<T> {
    let squares = std::iter::successors(Some((a, n)), |(x, n)| (*n > 1).then(|| (matmul(*x, *x), n / 2)));
    let used = squares.filter(|(_, n)| n % 2 == 1).map(|(x, _)| x);
    used.reduce(|x, y| matmul(x, y)).unwrap_or_else(|| eye(a.shape().0))
}

/// The exponential of a matrix, `1 + a + a² / 2 + ..`; of a batch, all of them. In SciPy, `linalg.expm(a)`.
///
/// The approximation is Padé's of order 13, of the matrix divided by a power of two, and as many squares (Higham 2005).
///
/// ```
/// use accel::linalg::expm;
/// use accel::prelude::*;
///
/// // A rotation by one radian.
/// let a = Array::matrix(2, 2, vec![0.0, -1.0, 1.0, 0.0])?;
/// let rotation = run(&afun(|a: Acc<Matrix<f64>>| expm(a)), &a)?;
/// assert!((rotation.to_vec()[0] - 1.0f64.cos()).abs() < 1e-15);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn expm<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    let site = ("expm", Location::caller());
    attributed(site, || each_square(site, a, exponential))
}

/// The coefficients of Padé's approximation of order 13 (Higham 2005, table 2.3).
const PADE: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];

fn exponential<T: Floating>(a: M<T>) -> M<T> {
    // The largest sum of a column. The approximation is good up to 5.37.
    let size = largest(sum(transpose(a).abs()));
    let squares =
        map(|x: Exp<T>| cond(x.gt(lit::<T>(5.0)), (x / lit::<T>(5.0)).log2().ceil(), lit::<T>(0.0)).detach(), size);
    let scale = unit(the(squares).exp2());
    let a = map(|x| x / the(scale), a);
    let a2 = matmul(a, a);
    let a4 = matmul(a2, a2);
    let a6 = matmul(a2, a4);
    let unit_matrix = eye::<T>(a.shape().0);
    let sum_of = |k: usize| {
        let c = |i: usize| lit::<T>(PADE[k + i]);
        let high = a6 * c(12) + a4 * c(10) + a2 * c(8);
        matmul(a6, high) + a6 * c(6) + a4 * c(4) + a2 * c(2) + unit_matrix * c(0)
    };
    let (even, odd) = (sum_of(0), matmul(a, sum_of(1)));
    aiterate(the(squares).cast::<i64>(), |x: M<T>| matmul(x, x), solution(even - odd, even + odd))
}
