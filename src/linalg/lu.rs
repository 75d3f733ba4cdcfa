//! Systems of equations and determinants, by elimination with the largest pivot of each column.

use super::batches::{RightSide, each, each_square, matrices, numbers_of, outer, square};
#[cfg(feature = "linalg")]
use super::large;
use super::sizes::by_size;
use super::structure::{diagonal, eye};
use super::triangle::Triangle;
use super::triangular::{by_rows, solutions, with_right_sides};
use super::{M, Matrices, ORDERS, V, one, zero};
use crate::surface::attributed;
use crate::types::{Floating, Shape};
use crate::{
    Acc, Afun, Array, Exp, Matrix, Scalar, Vector, afun, aiterate_indexed, argmax, call, cond, custom_vjp, fill,
    generate, iota, map, matmul, product, sum, sum_all, the, transpose, zip_with,
};
use std::panic::Location;

/// The solution of `a x = b`. `b` is a vector of n numbers or a matrix of n rows, and so is the result; for a batch, there is one for each
/// matrix. In NumPy, `linalg.solve(a, b)`. A singular matrix gives infinities or NaN.
///
/// The derivative solves the transposed system: `b̄ = a⁻ᵀ x̄` and `ā = -b̄ xᵀ` (Giles 2008, section 2.3).
///
/// ```
/// use accel::linalg::solve;
/// use accel::prelude::*;
///
/// let program = afun(|a: Acc<Matrix<f64>>, b: Acc<Vector<f64>>| solve(a, b));
/// let (a, b) = (Array::matrix(2, 2, vec![0.0, 2.0, 4.0, 1.0])?, Array::vector(vec![4.0, 6.0]));
/// assert_eq!(run(&program, (&a, &b))?.to_vec(), [1.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn solve<Sh: Shape, T: Floating, B: RightSide<Sh, T>>(a: Matrices<Sh, T>, b: B) -> B {
    let site = ("solve", Location::caller());
    attributed(site, || B::of_columns(with_right_sides(site, solver(ORDERS), a, b.columns())))
}

/// The inverse of a matrix; of a batch, all inverses. In NumPy, `linalg.inv(a)`. A singular matrix gives infinities or NaN. To solve a system,
/// [`solve`] takes a third of the time.
///
/// ```
/// use accel::linalg::inv;
/// use accel::prelude::*;
///
/// let a = Array::matrix(2, 2, vec![0.0, 2.0, 4.0, 0.0])?;
/// assert_eq!(run(&afun(|a: Acc<Matrix<f64>>| inv(a)), &a)?.to_vec(), [0.0, 0.25, 0.5, 0.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn inv<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    let site = ("inv", Location::caller());
    attributed(site, || each_square(site, a, inverse))
}

/// The sign of the determinant, and the logarithm of its absolute value; of a batch, all of them. In NumPy, `linalg.slogdet(a)`. The determinant
/// of a singular matrix has the sign 0 and the logarithm minus infinity; without rows it is 1.
///
/// The derivative of the logarithm is `a⁻ᵀ` (Giles 2008, section 2.2.3); the sign has none.
///
/// ```
/// use accel::linalg::slogdet;
/// use accel::prelude::*;
///
/// let a = Array::matrix(2, 2, vec![0.0, 1.0, 1.0, 5.0])?;
/// let (sign, logarithm) = run(&afun(|a: Acc<Matrix<f64>>| slogdet(a)), &a)?;
/// assert_eq!((sign.item(), logarithm.item()), (-1.0, 0.0));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn slogdet<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> (Acc<Array<Sh, T>>, Acc<Array<Sh, T>>) {
    let site = ("slogdet", Location::caller());
    attributed(site, || {
        let a = square(site, a);
        each(
            a,
            matrices,
            |a| {
                let (_, sign, logarithm, ..) = call(determinants(), a);
                (sign, logarithm)
            },
            |(sign, logarithm)| (numbers_of(outer(a), sign), numbers_of(outer(a), logarithm)),
        )
    })
}

/// The determinant of a matrix; of a batch, all determinants. In NumPy, `linalg.det(a)`. [`slogdet`] neither overflows nor underflows.
///
/// The derivative is the determinant times `a⁻ᵀ` (Giles 2008, section 2.2.3). For a singular matrix, it is not a number.
///
/// ```
/// use accel::linalg::det;
/// use accel::prelude::*;
///
/// let a = Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
/// assert!((run(&afun(|a: Acc<Matrix<f64>>| det(a)), &a)?.item() + 2.0).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn det<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> Acc<Array<Sh, T>> {
    let site = ("det", Location::caller());
    attributed(site, || {
        let a = square(site, a);
        each(a, matrices, |a| call(determinants(), a).0, |all| numbers_of(outer(a), all))
    })
}

/// L without its diagonal of ones and U in one matrix, and the rows of the matrix in the order in which they were pivots.
type Factors<T> = (M<T>, V<i64>);

fn factors<T: Floating>(a: M<T>) -> Factors<T> {
    by_size!(a.shape().0, by_columns(a), large::lu(a))
}

fn by_columns<T: Floating>(a: M<T>) -> Factors<T> {
    let n = a.shape().0;
    let step = |j: Exp<i64>, (a, rows): (M<T>, V<i64>)| {
        let sizes = generate(n, |i: Exp<i64>| cond(i.ge(j), a.at((i, j)).abs(), -one::<T>()));
        let pivot = argmax(sizes);
        let from = |i: Exp<i64>| cond(i.eq(j), the(pivot), cond(i.eq(the(pivot)), j, i));
        let a = generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| a.at((from(i), k)));
        let column = generate(n, |i: Exp<i64>| cond(i.gt(j), a.at((i, j)) / a.at((j, j)), zero::<T>()));
        let next = generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            let x = a.at((i, k));
            let rest = cond(k.eq(j), column.at(i), x - column.at(i) * a.at((j, k)));
            cond(i.gt(j).and(k.ge(j)), rest, x)
        });
        (next, generate(n, |i: Exp<i64>| rows.at(from(i))))
    };
    aiterate_indexed(n, step, (a, iota(n)))
}

/// The solutions of a system, in columns, with the rule for their derivatives up to this order: NOTE [Orders of rules].
fn solver<T: Floating>(orders: usize) -> Afun<(Matrix<T>, Matrix<T>), Matrix<T>> {
    let Some(orders) = orders.checked_sub(1) else {
        return afun(|a: M<T>, b: M<T>| substituted(by_columns(a), b, by_rows));
    };
    custom_vjp(eliminated, move |(a, _): (M<T>, M<T>), x, dx| {
        let db = call(solver(orders), (transpose(a), dx));
        (-matmul(db, transpose(x)), db)
    })
}

/// The solutions of a system, in columns.
fn eliminated<T: Floating>(a: M<T>, b: M<T>) -> M<T> {
    substituted(factors(a), b, solutions)
}

/// The solutions of a system from the factors of its matrix.
fn substituted<T: Floating>((lu, rows): Factors<T>, b: M<T>, solutions: impl Fn(Triangle, M<T>, M<T>) -> M<T>) -> M<T> {
    let b = generate(b.shape(), |(i, k): (Exp<i64>, Exp<i64>)| b.at((rows.at(i), k)));
    let l = generate(lu.shape(), |(i, k): (Exp<i64>, Exp<i64>)| cond(i.eq(k), one::<T>(), lu.at((i, k))));
    solutions(Triangle::Upper, lu, solutions(Triangle::Lower, l, b))
}

pub(super) fn solution<T: Floating>(a: M<T>, b: M<T>) -> M<T> {
    call(solver(ORDERS), (a, b))
}

pub(super) fn inverse<T: Floating>(a: M<T>) -> M<T> {
    let inverse = custom_vjp(|a: M<T>| of_factors(factors(a)), |_, x: M<T>, dx| of_inverse(x, dx));
    call(&inverse, a)
}

/// The inverse, from the factors.
fn of_factors<T: Floating>((lu, rows): Factors<T>) -> M<T> {
    let n = lu.shape().0;
    by_size!(n, substituted((lu, rows), eye(n), by_rows), large::inverse(lu, rows))
}

/// The adjoint of a matrix, from its inverse and the adjoint of it.
fn of_inverse<T: Floating>(x: M<T>, dx: M<T>) -> M<T> {
    let x = transpose(x);
    -matmul(matmul(x, dx), x)
}

/// Whether rows are in an order that an odd number of exchanges gives: each pair in the other order is one.
fn is_odd(rows: V<i64>) -> Acc<Scalar<bool>> {
    let n = rows.len();
    let exchanges = sum_all(generate((n, n), |(i, k): (Exp<i64>, Exp<i64>)| {
        cond(i.lt(k).and(rows.at(i).gt(rows.at(k))), 1i64, 0i64)
    }));
    map(|n: Exp<i64>| (n % 2).eq(1), exchanges)
}

/// The determinant, its sign, the logarithm of its absolute value, and the factors: so the rule need not compute them again.
fn determinants<T: Floating>() -> Afun<Matrix<T>, (Scalar<T>, Scalar<T>, Scalar<T>, Matrix<T>, Vector<i64>)> {
    let f = |a: M<T>| {
        let (lu, rows) = factors(a);
        let pivots = diagonal(lu);
        let signed = |x: Acc<Scalar<T>>| zip_with(|x: Exp<T>, odd: Exp<bool>| cond(odd, -x, x), x, is_odd(rows));
        (signed(product(pivots)), signed(product(pivots.signum())), sum(pivots.abs().ln()), lu, rows)
    };
    // The adjoint of the inverse goes to the matrix, not to its factors.
    let inverse = custom_vjp(
        |_: M<T>, lu: M<T>, rows: V<i64>| of_factors((lu, rows)),
        |(_, lu, _): (M<T>, M<T>, V<i64>), x, dx| (of_inverse(x, dx), fill(lu.shape(), zero::<T>()), ()),
    );
    custom_vjp(f, |a: M<T>, (d, _, _, lu, rows), (dd, _, dl, ..)| {
        // A determinant that nothing is computed from may be infinite.
        let counts = |d: Exp<T>, dd: Exp<T>| d.is_finite().or(dd.ne(zero::<T>()));
        let by_value = zip_with(|d: Exp<T>, dd: Exp<T>| cond(counts(d, dd), d * dd, zero::<T>()), d, dd);
        transpose(call(&inverse, (a, lu, rows))) * (by_value + dl)
    })
}
