//! Tridiagonal systems of equations.

use super::batches::{each, vectors, vectors_of};
use super::{ORDERS, V, Vectors, zero};
use crate::repr::Agreement;
use crate::surface::{agree, attributed};
use crate::types::{Floating, Shape};
use crate::{
    Acc, Afun, Exp, Scalar, Vector, afun, call, cond, custom_vjp, generate, index_head, index_tail, map_accum_l,
    map_accum_r, shape, unit,
};
use std::panic::Location;

/// The solution of `lower[i] x[i - 1] + diagonal[i] x[i] + upper[i] x[i + 1] = b[i]` for all i, by Thomas's algorithm: the matrix has three diagonals. The first
/// element of `lower` and the last one of `upper` are not read. All vectors have the same length; for a batch, there is one system for each row. In JAX,
/// `lax.linalg.tridiagonal_solve`.
///
/// Nothing is exchanged for a larger pivot, so the matrix should be positive definite or have a dominant diagonal, as those of time series and of
/// differential equations. The derivative solves the transposed system: `b̄ = a⁻ᵀ x̄` and `ā = -b̄ xᵀ`, on the three diagonals.
///
/// ```
/// use accel::linalg::solve_tridiagonal;
/// use accel::prelude::*;
///
/// let solve = afun(|b: Acc<Vector<f64>>| {
///     let side = fill(b.shape(), -1.0);
///     solve_tridiagonal(side, fill(b.shape(), 2.0), side, b)
/// });
/// let x = run(&solve, &Array::vector(vec![0.0, 0.0, 4.0]))?;
/// assert!(x.to_vec().iter().zip([1.0, 2.0, 3.0]).all(|(x, y): (&f64, f64)| (x - y).abs() < 1e-12));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn solve_tridiagonal<Sh: Shape, T: Floating>(
    lower: Vectors<Sh, T>,
    diagonal: Vectors<Sh, T>,
    upper: Vectors<Sh, T>,
    b: Vectors<Sh, T>,
) -> Vectors<Sh, T> {
    let site = ("solve_tridiagonal", Location::caller());
    attributed(site, || {
        let [lower, upper, b] = [lower, upper, b].map(|x| agree(site, Agreement::All, diagonal, x));
        let lists = |(lower, diagonal, upper, b)| (vectors(lower), vectors(diagonal), vectors(upper), vectors(b));
        let nested = |all| vectors_of(index_tail(shape(b)), index_head(shape(b)), all);
        each((lower, diagonal, upper, b), lists, |all| call(solver(ORDERS), all), nested)
    })
}

/// With the rule for derivatives up to this order: NOTE [Orders of rules].
fn solver<T: Floating>(orders: usize) -> Afun<(Vector<T>, Vector<T>, Vector<T>, Vector<T>), Vector<T>> {
    let Some(orders) = orders.checked_sub(1) else { return afun(solution) };
    custom_vjp(solution, move |(lower, diagonal, upper, _): (V<T>, V<T>, V<T>, V<T>), x: V<T>, dx: V<T>| {
        let n = x.len();
        let before = |xs: V<T>| generate(n, |i: Exp<i64>| cond(i.gt(0), xs.at((i - 1).max(0)), zero::<T>()));
        let after = |xs: V<T>| generate(n, |i: Exp<i64>| cond(i.lt(n - 1), xs.at((i + 1).min(n - 1)), zero::<T>()));
        // The transpose has the elements that are in the same column.
        let db = call(solver(orders), (before(upper), diagonal, after(lower), dx));
        (-db * before(x), -db * x, -db * after(x), db)
    })
}

fn solution<T: Floating>(lower: V<T>, diagonal: V<T>, upper: V<T>, b: V<T>) -> V<T> {
    type S<T> = Acc<Scalar<T>>;
    let n = b.len();
    let lower = generate(n, |i: Exp<i64>| cond(i.gt(0), lower.at(i), zero::<T>()));
    let upper = generate(n, |i: Exp<i64>| cond(i.lt(n - 1), upper.at(i), zero::<T>()));
    let eliminate = |(c, d): (S<T>, S<T>), (lower, diagonal, upper, b): (S<T>, S<T>, S<T>, S<T>)| {
        let pivot = diagonal - lower * c;
        let next = (upper / pivot, (b - lower * d) / pivot);
        (next, next)
    };
    let insert = |x: S<T>, (c, d): (S<T>, S<T>)| {
        let x = d - c * x;
        (x, x)
    };
    let none = || unit(zero::<T>());
    let rows = map_accum_l(eliminate, (none(), none()), (lower, diagonal, upper, b)).1;
    map_accum_r(insert, none(), rows).1
}
