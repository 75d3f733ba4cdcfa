//! Minima, by the method of Broyden, Fletcher, Goldfarb and Shanno with limited memory.

use super::linear_systems::{Method, System};
use super::{Equations, INNER, Minimum, ORDERS, S, Steps, Stop, V, implicit, next};
use crate::surface::attributed;
use crate::types::{Arrays, Floating, Tangent};
use crate::{
    Acc, Afun, All, Exp, IntoAcc, Matrix, Scalar, ToExp, Vector, acond, afun, aiterate_indexed, awhile, call, cond,
    dot, fill, grad, jvp, lit, map, norm, set, set_row, slice, the, unit, value_and_grad, vjp, zip_with,
};
use std::panic::Location;

/// The number of steps that are remembered. Usual: 5 to 20 (Nocedal and Wright 2006, section 7.2).
const MEMORY: i64 = 8;

/// A local minimum of `f(x, a)` in x, near `start`, by L-BFGS (Liu and Nocedal 1989) with steps that are halved until `f` falls enough. The residual is the norm of
/// the gradient.
///
/// The adjoint of the parameters is that of the equations `f_x = 0`: `-f_xaᵀ λ` with `f_xx λ = x̄`, solved by conjugate gradients with products of the
/// Hessian. So any number of unknowns will do, and the Hessian at the minimum has to be positive definite.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, minimise};
///
/// // The minimum of Rosenbrock's function is at (a, a²).
/// let f = afun(|x: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| {
///     let (u, v) = (x.at(0), x.at(1));
///     unit((the(a) - u).powi(2) + (v - u * u).powi(2) * 100.0)
/// });
/// let place = afun(|a: Acc<Scalar<f64>>| sum(minimise(Stop::default(), &f, fill(2, -1.0), a).x));
/// let (value, derivative) = run(value_and_grad(&place), &Array::scalar(2.0))?;
/// assert!((value.item() - 6.0).abs() < 1e-8 && (derivative.item() - 5.0).abs() < 1e-6); // a + a², 1 + 2 a
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn minimise<A, T>(
    stop: Stop,
    f: &Afun<(Vector<T>, A), Scalar<T>>,
    start: V<T>,
    a: impl IntoAcc<Arrays = A>,
) -> Minimum<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let slope = slope_of(f);
    let method = |start: V<T>, a: Acc<A>| {
        descent(stop, |x| call(f, (x, a)), |x| call(value_and_grad(f.by(|(x, _)| x)), (x, a)), start)
    };
    attributed(("minimise", Location::caller()), || {
        let a = a.into_acc();
        let rule = of_slope(&slope, by_conjugate_gradients(&slope));
        Minimum::new(implicit(stop, method, rule, start, a), |x| call(f, (x, a)))
    })
}

/// The gradient by the unknowns.
pub(super) fn slope_of<A: Arrays, T: Floating>(f: &Afun<(Vector<T>, A), Scalar<T>>) -> Equations<A, T> {
    afun(|x: V<T>, a: Acc<A>| call(grad(f.by(|(x, _)| x)), (x, a)))
}

/// The rule of a place where the slope is zero: `-f_xaᵀ λ` with `f_xx λ = x̄`, where `inverse(x, a, x̄)` is λ.
pub(super) fn of_slope<A: Arrays, T: Floating>(
    slope: &Equations<A, T>,
    inverse: impl Fn(V<T>, Acc<A>, V<T>) -> V<T>,
) -> impl Fn(V<T>, Acc<A>, V<T>) -> A::Acc {
    move |x: V<T>, a: Acc<A>, dx: V<T>| call(vjp(slope), ((x, a), -inverse(x, a, dx))).1
}

/// The products of the Hessian with vectors, where the slope is given.
pub(super) fn products_of_hessian<A: Arrays, T: Floating>(slope: &Equations<A, T>) -> Equations<(Vector<T>, A), T> {
    afun(|v: V<T>, at: Acc<(Vector<T>, A)>| call(jvp(slope.by(|(x, _)| x)), (at, v)).1)
}

/// Products with the inverse of the Hessian, without the matrix.
pub(super) fn by_conjugate_gradients<A, T>(slope: &Equations<A, T>) -> impl Fn(V<T>, Acc<A>, V<T>) -> V<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let product = products_of_hessian(slope);
    let system = System { method: Method::ConjugateGradients, stop: INNER, product, preconditioner: None };
    move |x, a, dx| call(system.solver(ORDERS), (dx, (x, a))).0
}

/// The last steps, the changes of the gradient in them, and the reciprocals of the products of both: row k is that of the steps k, k + [`MEMORY`], ..
type Memory<T> = (Acc<Matrix<T>>, Acc<Matrix<T>>, V<T>);

fn descent<T: Floating>(
    stop: Stop,
    value: impl Fn(V<T>) -> S<T>,
    value_and_slope: impl Fn(V<T>) -> (S<T>, V<T>),
    start: V<T>,
) -> (V<T>, Steps, S<T>) {
    type State<T> = (V<T>, S<T>, V<T>, Memory<T>, Steps);
    let step = |(x, now, slope, memory, steps): State<T>| {
        let direction = direction(slope, memory, steps);
        let falls = the(dot(direction, slope)).gt(lit::<T>(0.0));
        let direction = acond(falls, direction, slope);
        let along = dot(direction, slope);
        // The first direction is a gradient, which says nothing of the length.
        let whole = cond(the(steps).eq(0), lit::<T>(1.0) / the(norm(direction)).max(lit::<T>(1.0)), lit::<T>(1.0));
        let at = |t: S<T>| value(x - t * direction);
        let is_long = |(t, reached): (S<T>, S<T>)| {
            let enough = the(reached).le(the(now) - the(t) * the(along) * lit::<T>(1e-4));
            enough.not().and(the(t).gt(lit::<T>(1e-12)))
        };
        let halve = |(t, _): (S<T>, S<T>)| {
            let t = map(|t| t * lit::<T>(0.5), t);
            (t, at(t))
        };
        let (t, _) = awhile(is_long, halve, (unit(whole), at(unit(whole))));
        let y = x - t * direction;
        let (reached, next_slope) = value_and_slope(y);
        let (change, turn) = (y - x, next_slope - slope);
        let curvature = the(dot(change, turn));
        // Without curvature, there is nothing to remember.
        let reciprocal = cond(curvature.gt(lit::<T>(0.0)), lit::<T>(1.0) / curvature, lit::<T>(0.0));
        let ((changes, turns, reciprocals), row) = (memory, the(steps) % MEMORY);
        let memory = (set_row(changes, row, change), set_row(turns, row, turn), set(reciprocals, row, reciprocal));
        (y, reached, next_slope, memory, next(steps))
    };
    let (now, slope) = value_and_slope(start);
    let none = fill((MEMORY, start.len()), lit::<T>(0.0));
    let begin = (start, now, slope, (none, none, fill(MEMORY, lit::<T>(0.0))), unit(0i64));
    let goes_on = |(_, _, slope, _, steps): State<T>| stop.goes_on(norm(slope), steps);
    let (x, _, slope, _, steps) = awhile(goes_on, step, begin);
    (x, steps, norm(slope))
}

/// The gradient times an approximation of the inverse Hessian (Nocedal and Wright 2006, algorithm 7.4).
fn direction<T: Floating>(slope: V<T>, (changes, turns, reciprocals): Memory<T>, steps: Steps) -> V<T> {
    // The row of the newest step but k.
    let newest = |k: Exp<i64>| (the(steps) - 1 - k + MEMORY) % MEMORY;
    let row = |m: Acc<Matrix<T>>, k: Exp<i64>| slice((newest(k), All), m);
    let down = |k: Exp<i64>, (q, factors): (V<T>, V<T>)| {
        let factor = map(|d| d * reciprocals.at(newest(k)), dot(row(changes, k), q));
        (q - factor * row(turns, k), set(factors, k, the(factor)))
    };
    let (q, factors) = aiterate_indexed(MEMORY, down, (slope, fill(MEMORY, lit::<T>(0.0))));
    let last = 0i64.to_exp();
    let (change, turn) = (row(changes, last), row(turns, last));
    let length = |sy: Exp<T>, yy: Exp<T>| cond(yy.gt(lit::<T>(0.0)).and(sy.gt(lit::<T>(0.0))), sy / yy, lit::<T>(1.0));
    let scale = zip_with(length, dot(change, turn), dot(turn, turn));
    let up = |j: Exp<i64>, r: V<T>| {
        let k = -j + (MEMORY - 1);
        let factor = map(|d| factors.at(k) - d * reciprocals.at(newest(k)), dot(row(turns, k), r));
        r + factor * row(changes, k)
    };
    aiterate_indexed(MEMORY, up, scale * q)
}
