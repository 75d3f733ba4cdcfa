//! Triangular systems of equations.

use super::batches::{RightSide, Site, each, extents, matrices, matrices_of, outer, square};
#[cfg(feature = "linalg")]
use super::large;
use super::sizes::by_size;
use super::structure::{tril, triu};
use super::triangle::Triangle;
use super::{M, Matrices, ORDERS, zero};
use crate::repr::Agreement;
use crate::surface::{agree, attributed};
use crate::types::{Floating, Shape};
use crate::{
    Afun, Exp, Matrix, afun, aiterate_indexed, call, cond, custom_vjp, fill, generate, matmul, set_row, sum, transpose,
};
use std::panic::Location;

/// The solution of `a x = b` with a triangular matrix `a` of n rows, of which only one triangle is read. `b` is a vector of n numbers or a matrix
/// of n rows, and so is the result; for a batch, there is one for each matrix. In SciPy, `solve_triangular(a, b, lower=True)`.
///
/// A zero on the diagonal gives infinities or NaN. Derivatives are those of Giles (2008), section 2.3: `b̄ = a⁻ᵀ x̄` and `ā = -b̄ xᵀ`, in the triangle.
///
/// ```
/// use accel::linalg::{Triangle, solve_triangular};
/// use accel::prelude::*;
///
/// let solve = afun(|a: Acc<Matrix<f64>>, b: Acc<Vector<f64>>| solve_triangular(Triangle::Lower, a, b));
/// let (a, b) = (Array::matrix(2, 2, vec![2.0, 0.0, 1.0, 4.0])?, Array::vector(vec![2.0, 9.0]));
/// assert_eq!(run(&solve, (&a, &b))?.to_vec(), [1.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn solve_triangular<Sh: Shape, T: Floating, B: RightSide<Sh, T>>(
    triangle: Triangle,
    a: Matrices<Sh, T>,
    b: B,
) -> B {
    let site = ("solve_triangular", Location::caller());
    attributed(site, || B::of_columns(with_right_sides(site, solver(triangle, ORDERS), a, b.columns())))
}

/// Applies a function of a square matrix and of right sides in columns to each matrix of a batch.
pub(super) fn with_right_sides<Sh: Shape, T: Floating>(
    site: Site,
    f: Afun<(Matrix<T>, Matrix<T>), Matrix<T>>,
    a: Matrices<Sh, T>,
    b: Matrices<Sh, T>,
) -> Matrices<Sh, T> {
    let a = square(site, a);
    let b = agree(site, Agreement::Matrices, a, b);
    let lists = |(a, b)| (matrices(a), matrices(b));
    each((a, b), lists, |pair| call(&f, pair), |all| matrices_of(outer(b), extents(b), all))
}

/// The solutions of a triangular system, in columns, with the rule for their derivatives up to this order: NOTE [Orders of rules].
pub(super) fn solver<T: Floating>(triangle: Triangle, orders: usize) -> Afun<(Matrix<T>, Matrix<T>), Matrix<T>> {
    let Some(orders) = orders.checked_sub(1) else {
        return afun(move |a: M<T>, b: M<T>| by_rows(triangle, a, b));
    };
    custom_vjp(
        move |a: M<T>, b: M<T>| solutions(triangle, a, b),
        move |(a, _): (M<T>, M<T>), x, dx| {
            let db = call(solver(triangle.transposed(), orders), (transpose(a), dx));
            (part(triangle, -matmul(db, transpose(x))), db)
        },
    )
}

/// One triangle of a matrix, and zeros.
fn part<T: Floating>(triangle: Triangle, a: M<T>) -> M<T> {
    match triangle {
        Triangle::Lower => tril(a),
        Triangle::Upper => triu(a),
    }
}

/// The solutions of a triangular system, in columns.
pub(super) fn solved<T: Floating>(triangle: Triangle, a: M<T>, b: M<T>) -> M<T> {
    call(solver(triangle, ORDERS), (a, b))
}

pub(super) fn solutions<T: Floating>(triangle: Triangle, a: M<T>, b: M<T>) -> M<T> {
    by_size!(a.shape().0, by_rows(triangle, a, b), large::solutions(triangle, a, b))
}

/// Rows of the solution from the first to the last, or back: each is the right side without the products of those before.
pub(super) fn by_rows<T: Floating>(triangle: Triangle, a: M<T>, b: M<T>) -> M<T> {
    let (n, m) = b.shape();
    let step = |k: Exp<i64>, x: M<T>| {
        let i = if triangle == Triangle::Lower { k } else { n - 1 - k };
        let is_known = |j: Exp<i64>| if triangle == Triangle::Lower { j.lt(i) } else { j.gt(i) };
        let products = generate((m, n), |(c, j): (Exp<i64>, Exp<i64>)| {
            cond(is_known(j), a.at((i, j)) * x.at((j, c)), zero::<T>())
        });
        let known = sum(products);
        set_row(x, i, generate(m, |c: Exp<i64>| (b.at((i, c)) - known.at(c)) / a.at((i, i))))
    };
    aiterate_indexed(n, step, fill(b.shape(), zero::<T>()))
}
