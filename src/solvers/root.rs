//! Newton's method.

use super::gmres::minimal_residuals;
use super::linear_systems::{Method, System};
use super::{Equations, INNER, ORDERS, S, Solution, Steps, Stop, V, implicit, next};
use crate::linalg::{eye, solve};
use crate::surface::attributed;
use crate::types::{Arrays, Floating, Tangent};
use crate::{Acc, IntoAcc, Vector, afun, awhile, call, jvp, lit, map, norm, the, transpose, unit, vjp, vmap};
use std::panic::Location;

/// A solution of the equations `f(x, a) = 0` near `start`, by Newton's method. A step that does not make `f` smaller is halved until it does. The residual
/// is the norm of `f`.
///
/// Each step takes the whole Jacobian and solves a system with it, so this is for some hundred unknowns at most; for more, there is [`newton_krylov`].
/// The adjoint of the parameters is `-f_aᵀ λ` with `f_xᵀ λ = x̄`.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, root};
///
/// // The square root of a, and its derivative.
/// let equation = afun(|x: Acc<Vector<f64>>, a: Acc<Vector<f64>>| x * x - a);
/// let program = afun(|a: Acc<Vector<f64>>| sum(root(Stop::default(), &equation, fill(a.shape(), 1.0), a).x));
/// let (value, derivative) = run(value_and_grad(&program), &Array::vector(vec![9.0]))?;
/// assert!((value.item() - 3.0).abs() < 1e-10 && (derivative.as_slice()[0] - 1.0 / 6.0).abs() < 1e-10);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn root<A, T>(stop: Stop, f: &Equations<A, T>, start: V<T>, a: impl IntoAcc<Arrays = A>) -> Solution<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let slope = |x: V<T>, a: Acc<A>| {
        let column = |e: V<T>| call(jvp(f.by(|(x, _)| x)), ((x, a), e)).1;
        transpose(vmap(column, eye::<T>(x.len())))
    };
    let method =
        |start: V<T>, a: Acc<A>| newton(stop, |x| call(f, (x, a)), |x, value| solve(slope(x, a), value), start);
    let rule = |x: V<T>, a: Acc<A>, dx: V<T>| {
        let adjoint = solve(transpose(slope(x, a)), dx);
        call(vjp(f), ((x, a), -adjoint)).1
    };
    attributed(("root", Location::caller()), || implicit(stop, method, rule, start, a.into_acc()))
}

/// A solution of many equations `f(x, a) = 0` near `start`: [`root`] without the Jacobian, whose systems are solved by [`gmres`](super::gmres) with
/// products of it (Knoll and Keyes 2004). The residual is the norm of `f`. In SciPy, `optimize.newton_krylov`.
///
/// The method stops where gmres does not get ahead, as for Jacobians whose eigenvalues are far from each other. Then write `f` with a preconditioner,
/// an approximation of the inverse of its Jacobian: `p(f(x, a))` has the same roots.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, newton_krylov};
///
/// // A thousand equations, each with a neighbour.
/// let f = afun(|x: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| x + a * roll(1, x).sin() - 1.0);
/// let program = afun(|a: Acc<Scalar<f64>>| mean(newton_krylov(Stop::default(), &f, fill(1000, 1.0), a).x));
/// let (value, derivative) = run(value_and_grad(&program), &Array::scalar(0.5))?;
/// let (x, a) = (value.item(), 0.5); // All are equal: x + a sin x = 1.
/// assert!((x + a * x.sin() - 1.0).abs() < 1e-10 && (derivative.item() + x.sin() / (1.0 + a * x.cos())).abs() < 1e-10);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn newton_krylov<A, T>(stop: Stop, f: &Equations<A, T>, start: V<T>, a: impl IntoAcc<Arrays = A>) -> Solution<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    // A step of Newton's method is near enough with some digits.
    let rough = Stop { tolerance: 1e-4, ..INNER };
    let method = |start: V<T>, a: Acc<A>| {
        let direction = |x: V<T>, value: V<T>| {
            let product = |v: V<T>| call(jvp(f.by(|(x, _)| x)), ((x, a), v)).1;
            minimal_residuals(rough, product, |v| v, value).0
        };
        newton(stop, |x| call(f, (x, a)), direction, start)
    };
    let pullback: Equations<(Vector<T>, A), T> =
        afun(|y: V<T>, at: Acc<(Vector<T>, A)>| call(vjp(f.by(|(x, _)| x)), (at, y)));
    let system = System { method: Method::MinimalResiduals, stop: INNER, product: pullback, preconditioner: None };
    let rule = |x: V<T>, a: Acc<A>, dx: V<T>| {
        let (adjoint, ..) = call(system.solver(ORDERS), (dx, (x, a)));
        call(vjp(f), ((x, a), -adjoint)).1
    };
    attributed(("newton_krylov", Location::caller()), || implicit(stop, method, rule, start, a.into_acc()))
}

/// Steps along `direction(x, value(x))`, from `start` on: the solution, the number of steps, and the norm of the value.
fn newton<T: Floating>(
    stop: Stop,
    value: impl Fn(V<T>) -> V<T>,
    direction: impl Fn(V<T>, V<T>) -> V<T>,
    start: V<T>,
) -> (V<T>, Steps, S<T>) {
    let step = |(x, size, steps): (V<T>, S<T>, Steps)| {
        let direction = direction(x, value(x));
        let is_long = |(t, now): (S<T>, S<T>)| the(now).lt(the(size)).not().and(the(t).gt(lit::<T>(1e-6)));
        let halve = |(t, _): (S<T>, S<T>)| {
            let t = map(|t| t * lit::<T>(0.5), t);
            (t, norm(value(x - t * direction)))
        };
        let (t, size) = awhile(is_long, halve, (unit(lit::<T>(1.0)), norm(value(x - direction))));
        (x - t * direction, size, next(steps))
    };
    let begin = (start, norm(value(start)), unit(0i64));
    let (x, size, steps) = awhile(|(_, size, steps)| stop.goes_on(size, steps), step, begin);
    (x, steps, size)
}
