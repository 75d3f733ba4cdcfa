//! Ordinary differential equations with the derivative by the adjoint equation.

use super::odeint::{Parts, Point, Slope, State, Trajectory, advance, trajectory};
use super::{Accuracy, S, V};
use crate::surface::attributed;
use crate::types::{Arrays, Floating, Tangent};
use crate::{
    Acc, Afun, All, Exp, IntoAcc, Matrix, Scalar, ToExp, Vector, afun, aiterate_indexed, call, concat, cond,
    custom_vjp, dot, fill, generate, lit, map, skip, slice, take, the, unit, vjp, vmap,
};
use std::panic::Location;

/// What [`odeint`](super::odeint) computes, with derivatives whose memory does not grow with the number of steps: they solve the adjoint equation.
///
/// The adjoint λ of the state follows `λ' = -f_yᵀ λ` from the last of the times back to the first one, and `ȳ` of each row is added at its time (Pontryagin
/// and others 1962; Chen and others 2018). The adjoint of the parameters is the integral of `f_aᵀ λ`, by the weights of the same steps, and
/// that of a time is `f · ȳ` there. The state is computed again on the way back, from each of the rows on. In JAX, this is what `experimental.ode.odeint` does,
/// in diffrax `BacksolveAdjoint`.
///
/// So the gradient is exact up to `accuracy` only, and takes two to three times the work of `odeint`. Where going back is unstable, such as for strong damping, more
/// rows help, or `odeint`. The rule is differentiated for higher orders, through its steps. Forward mode transposes it; prefer `odeint` there.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Accuracy, odeint_adjoint};
///
/// // Growth at the rate a.
/// let growth = afun(|y: Acc<Vector<f64>>, _t: Acc<Scalar<f64>>, a: Acc<Scalar<f64>>| y * a);
/// let last = afun(|a: Acc<Scalar<f64>>| {
///     let found = odeint_adjoint(Accuracy::default(), &growth, fill(1, 1.0), linspace(0.0, 2.0, 3), a);
///     unit(found.y.at((2, 0)))
/// });
/// let (value, derivative) = run(value_and_grad(&last), &Array::scalar(0.5))?;
/// let e = 1f64.exp(); // e^(2 a), 2 e^(2 a)
/// assert!((value.item() - e).abs() < 1e-7 && (derivative.item() - 2.0 * e).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn odeint_adjoint<A, T>(
    accuracy: Accuracy,
    f: &Afun<(Vector<T>, Scalar<T>, A), Vector<T>>,
    start: V<T>,
    times: V<T>,
    a: impl IntoAcc<Arrays = A>,
) -> Trajectory<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    type Arguments<A, T> = (Vector<T>, Vector<T>, A);
    type Found<T> = (Matrix<T>, Scalar<i64>, Scalar<bool>);
    attributed(("odeint_adjoint", Location::caller()), || {
        let solution: Afun<Arguments<A, T>, Found<T>> = afun(|start: V<T>, times: V<T>, a: Acc<A>| {
            let Trajectory { y, steps, converged } = trajectory(accuracy, f, start, times, a);
            (y, steps, converged)
        });
        let with_rule = custom_vjp(&solution, |(_, times, a): (V<T>, V<T>, A::Acc), (y, _, _), (dy, _, _)| {
            adjoints(accuracy, f, (y, times, a.into_acc()), dy)
        });
        let (y, steps, converged) = call(with_rule, (start, times, a));
        Trajectory { y, steps, converged }
    })
}

/// The adjoints of the start, the times and the parameters, from the rows and their adjoints.
fn adjoints<A, T>(
    accuracy: Accuracy,
    f: &Slope<A, T>,
    (y, times, a): (Acc<Matrix<T>>, V<T>, Acc<A>),
    dy: Acc<Matrix<T>>,
) -> (V<T>, V<T>, A::Acc)
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let (rows, n) = y.shape();
    let row = |k: Exp<i64>, y: Acc<Matrix<T>>| slice((k, All), y);
    let slope = |y: V<T>, t: S<T>| call(f, (y, t, a));
    // The state and its adjoint, at a time that runs backwards.
    let back = |both: V<T>, t: S<T>| {
        let (y, adjoint, t) = (take(n, both), skip(n, both), -t);
        let by_state = call(vjp(f.by(|(y, _, _)| y)), ((y, t, a), adjoint));
        concat(-slope(y, t), by_state)
    };
    // The integral for the parameters, with the part of a step.
    let gather = |sum: A::Acc, length: S<T>, points: &[Point<T>]| {
        let with_part = afun(|a: Acc<A>| {
            let part = |(t, both, weight): &Point<T>| {
                dot(skip(n, *both), call(f, (take(n, *both), -*t, a))) * length * lit::<T>(*weight)
            };
            let parts = points.iter().filter(|(_, _, weight)| *weight != 0.0).map(part);
            (a, parts.reduce(|x, y| x + y).expect("a step has points"))
        });
        call(vjp(&with_part), (a, (sum, unit(lit::<T>(1.0)))))
    };
    // The adjoint of the first row is that of the start; it is added at the end.
    let of_row = |k: Exp<i64>| map(|d: Exp<T>| cond(k.gt(0), d, lit::<T>(0.0)), row(k, dy));
    let adjoint = of_row(rows - 1);
    let none = call(vjp(f.by(|(_, _, a)| a)), ((row(0.to_exp(), y), unit(times.at(0)), a), fill(n, lit::<T>(0.0))));
    let first = State::first(accuracy, back, unit(-times.at(rows - 1)), concat(row(rows - 1, y), adjoint));
    let between = |k: Exp<i64>, (state, sum): (Parts<T>, A::Acc)| {
        let before = rows - 2 - k;
        let (state, sum) = advance::<T, A>(accuracy, back, unit(-times.at(before)), State::of(state), sum, gather);
        let is_there = the(state.t).ge(-times.at(before));
        let adjoint = map(|l: Exp<T>| cond(is_there, l, lit::<T>(f64::NAN)), skip(n, state.y));
        let both = concat(row(before, y), adjoint + of_row(before));
        (State { y: both, k: back(both, state.t), ..state }.parts(), sum)
    };
    let (state, sum) = aiterate_indexed(rows - 1, between, (first.parts(), none));
    let adjoint = skip(n, State::of(state).y);
    let by_time = vmap(|(y, t, dy): (V<T>, S<T>, V<T>)| dot(slope(y, t), dy), (y, times, dy));
    let by_first = dot(slope(row(0.to_exp(), y), unit(times.at(0))), adjoint);
    let by_times = generate(rows, |k: Exp<i64>| cond(k.eq(0), -the(by_first), by_time.at(k)));
    (adjoint + row(0.to_exp(), dy), by_times, sum)
}
