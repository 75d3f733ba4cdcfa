//! Systems of linear equations by the method of conjugate gradients.

use super::{Equations, Found, ORDERS, S, Solution, Steps, Stop, V, next, no_rule, no_rule_of};
use crate::surface::attributed;
use crate::types::{Arrays, Floating, Tangent};
use crate::{
    Acc, Afun, Exp, IntoAcc, Vector, afun, awhile, call, custom_vjp, dot, fill, lit, the, unit, vjp, zip_with,
};
use std::panic::Location;

/// The solution of the linear equations `product(x, a) = b`, where `product` is the product of a symmetric positive definite matrix and x: the matrix itself is
/// never stored. The method is that of conjugate gradients (Hestenes and Stiefel 1952). The residual is the norm of `b - product(x, a)` in relation to that of
/// `b`.
///
/// The adjoint of `b` is the solution λ for the right side `x̄`, and that of the parameters the one of `-product(x, a)` for λ. For a matrix in memory,
/// [`linalg::solve`](crate::linalg::solve) and [`linalg::cho_solve`](crate::linalg::cho_solve) are there.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, linear_solve};
///
/// // The second difference, with a number added to the diagonal.
/// let product = afun(|x: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| {
///     let padded = pad(1, 1, Constant(0.0), x);
///     generate(x.len(), |i| (the(a) + 2.0) * x.at(i) - padded.at(i) - padded.at(i + 2))
/// });
/// let program = afun(|b: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| {
///     let found = linear_solve(Stop::default(), &product, b, a);
///     (found.x, found.converged)
/// });
/// let (x, converged) = run(&program, (&Array::vector(vec![1.0, 0.0, 1.0]), &Array::scalar(0.0)))?;
/// assert!(converged.item() && x.to_vec().iter().all(|x| (x - 1.0).abs() < 1e-9));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn linear_solve<A, T>(stop: Stop, product: &Equations<A, T>, b: V<T>, a: impl IntoAcc<Arrays = A>) -> Solution<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    attributed(("linear_solve", Location::caller()), || {
        Solution::new(stop, call(solver(stop, product, ORDERS), (b, a.into_acc())))
    })
}

/// With the rule for derivatives up to this order.
pub(super) fn solver<A, T>(stop: Stop, product: &Equations<A, T>, orders: usize) -> Afun<(Vector<T>, A), Found<T>>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let method = afun(|b: V<T>, a: Acc<A>| conjugate_gradients(stop, |x| call(product, (x, a)), b));
    custom_vjp(&method, |(b, a): (V<T>, A::Acc), (x, _, _), (dx, _, _)| {
        let a = a.into_acc();
        let Some(orders) = orders.checked_sub(1) else { return (no_rule(b), no_rule_of::<A, T>(product, b, a)) };
        let (adjoint, ..) = call(solver(stop, product, orders), (dx, a));
        (adjoint, call(vjp(product), ((x, a), -adjoint)).1)
    })
}

/// The solution, the number of steps, and the residual.
fn conjugate_gradients<T: Floating>(stop: Stop, product: impl Fn(V<T>) -> V<T>, b: V<T>) -> (V<T>, Steps, S<T>) {
    type State<T> = (V<T>, V<T>, V<T>, S<T>, Steps);
    let ratio = |x: S<T>, y: S<T>| zip_with(|x: Exp<T>, y: Exp<T>| x / y, x, y);
    let all = dot(b, b);
    let relative = |square: S<T>| {
        zip_with(|x: Exp<T>, all: Exp<T>| (x / all.max(lit::<T>(f64::MIN_POSITIVE))).sqrt(), square, all)
    };
    let step = |(x, rest, direction, square, steps): State<T>| {
        let image = product(direction);
        let t = ratio(square, dot(direction, image));
        let (x, rest) = (x + t * direction, rest - t * image);
        let now = dot(rest, rest);
        (x, rest, rest + ratio(now, square) * direction, now, next(steps))
    };
    let begin = (fill(b.shape(), lit::<T>(0.0)), b, b, all, unit(0i64));
    let goes_on =
        |(_, _, _, square, steps): State<T>| the(square).gt(lit::<T>(0.0)).and(stop.goes_on(relative(square), steps));
    let (x, _, _, square, steps) = awhile(goes_on, step, begin);
    (x, steps, relative(square))
}
