//! Newton's method.

use super::{Equations, S, Solution, Steps, Stop, V, implicit, next};
use crate::linalg::{eye, solve};
use crate::surface::attributed;
use crate::types::{Arrays, Floating, Tangent};
use crate::{Acc, IntoAcc, awhile, call, jvp, lit, map, norm, the, transpose, unit, vjp, vmap};
use std::panic::Location;

/// A solution of the equations `f(x, a) = 0` near `start`, by Newton's method. A step that does not make `f` smaller is halved until it does. The residual
/// is the norm of `f`.
///
/// Each step takes the whole Jacobian and solves a system with it, so this is for some hundred unknowns at most. The adjoint of the parameters is
/// `-f_aᵀ λ` with `f_xᵀ λ = x̄`.
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
    let method = |start: V<T>, a: Acc<A>| {
        let value = |x: V<T>| call(f, (x, a));
        let step = |(x, size, steps): (V<T>, S<T>, Steps)| {
            let direction = solve(slope(x, a), value(x));
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
    };
    let rule = |x: V<T>, a: Acc<A>, dx: V<T>| {
        let adjoint = solve(transpose(slope(x, a)), dx);
        call(vjp(f), ((x, a), -adjoint)).1
    };
    attributed(("root", Location::caller()), || implicit(stop, method, rule, start, a.into_acc()))
}
