//! Ordinary differential equations, by the method of Dormand and Prince with steps of adapted length.

use super::{Accuracy, S, Steps, V, next};
use crate::surface::attributed;
use crate::types::{Arrays, Floating};
use crate::{
    Acc, Afun, Exp, IntoAcc, Matrix, Scalar, ToExp, Vector, acond, all, awhile, call, cond, diff, lit, map,
    map_accum_l, mean, the, unit, zip_with,
};
use std::panic::Location;

/// What [`odeint`] has computed.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory<T: Floating> {
    /// The states at the times, one in each row; NaN where the method did not get to.
    pub y: Acc<Matrix<T>>,
    /// The number of steps, with those that were too long and were taken again.
    pub steps: Acc<Scalar<i64>>,
    /// Whether the method got to the last of the times.
    pub converged: Acc<Scalar<bool>>,
}

/// The solution of the differential equation `y' = f(y, t, a)` at the given times: row k is the state at `times[k]`, and `start` is the state at the
/// first one. In SciPy, `integrate.odeint` and `integrate.solve_ivp`; in JAX, `experimental.ode.odeint`; also known as RK45 and `ode45`.
///
/// The method is the pair of orders 5 and 4 of Dormand and Prince (1980), for equations that are not stiff. The root of the mean square of the estimated errors of a step,
/// each in relation to `atol + rtol |y|`, is at most 1; the length of the next step follows from it (Hairer, Nørsett and Wanner 1993,
/// section II.4). The times increase, otherwise the result is NaN. A step ends at each of them, so times that nobody needs cost steps. Under
/// [`vmap`](crate::vmap), each lane takes steps of its own.
///
/// Derivatives by the start, the parameters and the times go through the steps, in both modes and at any order; the lengths of the steps are constant for them. So
/// memory grows with the number of steps; with [`odeint_adjoint`](super::odeint_adjoint), it does not.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Accuracy, odeint};
///
/// // Growth at the rate a.
/// let growth = afun(|y: Acc<Vector<f64>>, _t: Acc<Scalar<f64>>, a: Acc<Scalar<f64>>| y * a);
/// let last = afun(|a: Acc<Scalar<f64>>| {
///     let found = odeint(Accuracy::default(), &growth, fill(1, 1.0), linspace(0.0, 2.0, 3), a);
///     unit(found.y.at((2, 0)))
/// });
/// let (value, derivative) = run(value_and_grad(&last), &Array::scalar(0.5))?;
/// let e = 1f64.exp(); // e^(2 a), 2 e^(2 a)
/// assert!((value.item() - e).abs() < 1e-7 && (derivative.item() - 2.0 * e).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn odeint<A, T>(
    accuracy: Accuracy,
    f: &Afun<(Vector<T>, Scalar<T>, A), Vector<T>>,
    start: V<T>,
    times: V<T>,
    a: impl IntoAcc<Arrays = A>,
) -> Trajectory<T>
where
    A: Arrays,
    T: Floating,
{
    attributed(("odeint", Location::caller()), || trajectory(accuracy, f, start, times, a.into_acc()))
}

/// The derivative of a state as a program of the state, the time and parameters.
pub(super) type Slope<A, T> = Afun<(Vector<T>, Scalar<T>, A), Vector<T>>;

pub(super) fn trajectory<A: Arrays, T: Floating>(
    accuracy: Accuracy,
    f: &Slope<A, T>,
    start: V<T>,
    times: V<T>,
    a: Acc<A>,
) -> Trajectory<T> {
    let slope = |y: V<T>, t: S<T>| call(f, (y, t, a));
    let begin = State::first(accuracy, slope, unit(times.at(0)), start);
    let row = |state: Parts<T>, end: S<T>| {
        let (state, ()) = advance::<T, ()>(accuracy, slope, end, State::of(state), (), |(), _, _| ());
        let is_there = the(state.t).ge(the(end));
        let y = map(|y: Exp<T>| cond(is_there, y, lit::<T>(f64::NAN)), state.y);
        (state.parts(), y)
    };
    let in_order = the(all(diff(times).ge(lit::<T>(0.0))));
    let (last, rows) = map_accum_l(row, begin.parts(), times);
    let last = State::of(last);
    let converged = in_order.and(the(last.t).ge(times.at(times.len() - 1)));
    let y = map(|y: Exp<T>| cond(in_order, y, lit::<T>(f64::NAN)), rows);
    Trajectory { y, steps: last.steps, converged: unit(converged) }
}

/// Where the method is: the time, the state, its derivative, the length of the next step, and the number of steps.
pub(super) struct State<T: Floating> {
    pub t: S<T>,
    pub y: V<T>,
    pub k: V<T>,
    pub h: S<T>,
    pub steps: Steps,
}
pub(super) type Parts<T> = (S<T>, V<T>, V<T>, S<T>, Steps);

impl<T: Floating> State<T> {
    /// Before the first step from here.
    pub fn first(accuracy: Accuracy, slope: impl Fn(V<T>, S<T>) -> V<T>, t: S<T>, y: V<T>) -> Self {
        let k = slope(y, t);
        State { t, y, k, h: first_step(accuracy, slope, t, y, k), steps: unit(0i64) }
    }
    pub fn of((t, y, k, h, steps): Parts<T>) -> Self {
        State { t, y, k, h, steps }
    }
    pub fn parts(self) -> Parts<T> {
        (self.t, self.y, self.k, self.h, self.steps)
    }
}

/// Nodes of the method, and the factors of the derivatives of earlier stages. The last row gives the result.
const STAGES: [(f64, &[f64]); 6] = [
    (1.0 / 5.0, &[1.0 / 5.0]),
    (3.0 / 10.0, &[3.0 / 40.0, 9.0 / 40.0]),
    (4.0 / 5.0, &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0]),
    (8.0 / 9.0, &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0]),
    (1.0, &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0]),
    (1.0, &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0]),
];
/// The result less that of order 4.
const ERROR: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// A point of a step: the time, the state there, and the weight of its derivative in the result of the step.
pub(super) type Point<T> = (S<T>, V<T>, f64);

/// Steps to the time `end`. What `gather` makes of the length of each good step and of its points goes along in `sum`.
pub(super) fn advance<T, E>(
    accuracy: Accuracy,
    slope: impl Fn(V<T>, S<T>) -> V<T>,
    end: S<T>,
    begin: State<T>,
    sum: E::Acc,
    gather: impl Fn(E::Acc, S<T>, &[Point<T>]) -> E::Acc,
) -> (State<T>, E::Acc)
where
    T: Floating,
    E: Arrays,
{
    let step = |(state, sum): (Parts<T>, E::Acc)| {
        let State { t, y, k, h, steps } = State::of(state);
        let left = the(end) - the(t);
        // The last step may be a little longer, so that nearly nothing is never left.
        let is_last = unit((the(h) * lit::<T>(1.01)).ge(left));
        // The end of the last step moves with the time, other steps are constant.
        let length = unit(cond(the(is_last), left, the(h).detach()));
        let (mut ks, mut points) = (vec![k], vec![(t, y)]);
        for (node, factors) in STAGES {
            let (time, there) = (unit(the(t) + the(length) * lit::<T>(node)), y + length * combined(factors, &ks));
            ks.push(slope(there, time));
            points.push((time, there));
        }
        let there = points[6].1;
        let error = length * combined(&ERROR, &ks);
        let size = scaled(accuracy, error, y, there);
        let is_good = unit(the(size).le(lit::<T>(1.0)));
        let most = cond(the(is_good), lit::<T>(10.0), lit::<T>(1.0));
        let factor = (the(size).powf(lit::<T>(-0.2)) * lit::<T>(0.9)).max(lit::<T>(0.2)).min(most);
        let new = (the(length) * factor).detach();
        // That the last step was short says nothing of the next one.
        let new = cond(the(is_last).and(the(is_good)), new.max(the(h)), new);
        let choose = |new: V<T>, old: V<T>| zip_with(|x: Exp<T>, y: Exp<T>| cond(the(is_good), x, y), new, old);
        let now = cond(the(is_last), the(end), the(t) + the(length));
        let sum = sum.into_acc();
        let points: Vec<_> = points.into_iter().zip(STAGES[5].1).map(|((t, y), weight)| (t, y, *weight)).collect();
        let sum = acond(the(is_good), gather(sum.unlift(), length, &points).into_acc(), sum);
        let t = unit(cond(the(is_good), now, the(t)));
        (State { t, y: choose(there, y), k: choose(ks[6], k), h: unit(new), steps: next(steps) }.parts(), sum)
    };
    let goes_on = |(state, _): (Parts<T>, E::Acc)| {
        let State { t, h, steps, .. } = State::of(state);
        // Steps that do not change the time do not end.
        let moves = (the(t) + the(h)).gt(the(t));
        the(t).lt(the(end)).and(moves).and(the(steps).lt(accuracy.steps.to_exp()))
    };
    let (state, sum) = awhile(goes_on, step, (begin.parts(), sum));
    (State::of(state), sum)
}

/// The sum of derivatives with these factors.
fn combined<T: Floating>(factors: &[f64], ks: &[V<T>]) -> V<T> {
    let terms = factors.iter().zip(ks).filter(|(c, _)| **c != 0.0).map(|(c, k)| *k * lit::<T>(*c));
    terms.reduce(|x, y| x + y).expect("each stage has a factor")
}

/// The root of the mean square of errors of a step from y to z, each in relation to what is allowed; a constant for derivatives.
fn scaled<T: Floating>(accuracy: Accuracy, error: V<T>, y: V<T>, z: V<T>) -> S<T> {
    let larger = zip_with(|y: Exp<T>, z: Exp<T>| y.abs().max(z.abs()), y, z);
    let part = |e: Exp<T>, y: Exp<T>| (e / (y * lit::<T>(accuracy.rtol) + lit::<T>(accuracy.atol))).detach();
    let parts = zip_with(part, error, larger);
    map(|s: Exp<T>| s.sqrt(), mean(parts * parts))
}

/// The length of the first step (Hairer, Nørsett and Wanner 1993, section II.4).
fn first_step<T: Floating>(accuracy: Accuracy, slope: impl Fn(V<T>, S<T>) -> V<T>, t: S<T>, y: V<T>, k: V<T>) -> S<T> {
    let [of_y, of_k] = [y, k].map(|v| the(scaled(accuracy, v, y, y)));
    let small = of_y.lt(lit::<T>(1e-5)).or(of_k.lt(lit::<T>(1e-5)));
    let h = unit(cond(small, lit::<T>(1e-6), of_y / of_k * lit::<T>(0.01)));
    let after = slope(y + h * k, unit(the(t) + the(h)));
    let turn = the(scaled(accuracy, after - k, y, y)) / the(h);
    let most = of_k.max(turn);
    let short = (the(h) * lit::<T>(1e-3)).max(lit::<T>(1e-6));
    let next = cond(most.le(lit::<T>(1e-15)), short, (lit::<T>(0.01) / most).powf(lit::<T>(0.2)));
    unit((the(h) * lit::<T>(100.0)).min(next).detach())
}
