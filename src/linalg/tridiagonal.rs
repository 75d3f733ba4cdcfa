//! Tridiagonal systems of equations.

use super::batches::{each, vectors, vectors_of};
use super::{ORDERS, V, Vectors, zero};
use crate::repr::Agreement;
use crate::surface::{agree, attributed, index_head, index_tail};
use crate::types::{Floating, Shape};
use crate::{Afun, Exp, Vector, afun, call, cond, custom_vjp, generate, map, scanl1, scanr1, shape, zip_with};
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

/// NOTE [Eliminations as scans]: Thomas's algorithm is three recurrences: the factors `c = upper / (diagonal - lower c)`, the right side, and the solution from the last
/// number back. The first one is a quotient of linear functions, `(0 c + upper) / (-lower c + diagonal)`, the others are linear functions. Such functions,
/// one after the other, are one again, whose matrix is the product. So each is a scan: the rows of a batch are done in parallel, each along
/// its memory, and a long row in parts. A quotient stays the same if its matrix is multiplied by a number, which keeps it from overflowing.
fn solution<T: Floating>(lower: V<T>, diagonal: V<T>, upper: V<T>, b: V<T>) -> V<T> {
    let n = b.len();
    let lower = |i: Exp<i64>| cond(i.gt(0), lower.at(i), zero::<T>());
    let quotients = generate(n, |i: Exp<i64>| {
        let upper = cond(i.lt(n - 1), upper.at(i), zero::<T>());
        (zero::<T>(), upper, -lower(i), diagonal.at(i))
    });
    let product = |(a, b, c, d): Square<T>, (e, f, g, h): Square<T>| {
        let all = [e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d];
        let largest = all.into_iter().map(Exp::abs).reduce(Exp::max).expect("four numbers");
        let [a, b, c, d] = all.map(|x| x / largest);
        (a, b, c, d)
    };
    let c = map(|(_, x, _, y): Square<T>| x / y, scanl1(product, quotients));
    let steps = generate(n, |i: Exp<i64>| {
        let pivot = diagonal.at(i) - lower(i) * c.at((i - 1).max(0));
        (-lower(i) / pivot, b.at(i) / pivot)
    });
    let then = |(a, b): Linear<T>, (c, d): Linear<T>| (c * a, c * b + d);
    let second = |(_, x): Linear<T>| x;
    let d = map(second, scanl1(then, steps));
    map(second, scanr1(|x, y| then(y, x), zip_with(|c: Exp<T>, d: Exp<T>| (-c, d), c, d)))
}

/// A matrix, row by row.
type Square<T> = (Exp<T>, Exp<T>, Exp<T>, Exp<T>);
/// The factor and the number that a linear function adds.
type Linear<T> = (Exp<T>, Exp<T>);
