//! Integrals of functions of one variable, by Gauss-Kronrod quadrature.

use super::{Accuracy, S, Steps, V, epsilon, next};
use crate::surface::attributed;
use crate::types::Floating;
use crate::{
    Acc, Array, Exp, Matrix, Scalar, ToExp, argmax, awhile, cond, fill, generate, lit, map, matvec, set, sum, the,
    unit, use_, zip_with,
};
use std::panic::Location;

/// What [`quad`] has computed.
#[derive(Clone, Copy, Debug)]
pub struct Integral<T: Floating> {
    /// The integral.
    pub value: Acc<Scalar<T>>,
    /// An estimate of its error, usually much too large.
    pub error: Acc<Scalar<T>>,
    /// The number of parts that were halved.
    pub steps: Acc<Scalar<i64>>,
    /// Whether the error is as small as it should be.
    pub converged: Acc<Scalar<bool>>,
}

/// The integral of `f` from `a` to `b`. In SciPy, `integrate.quad(f, a, b)`.
///
/// The sum has 21 places in each part of the interval, 10 of which give a second sum, from which the error follows (Gauss and Kronrod; Piessens and others
/// 1983, QAG). As long as the error is more than `atol` and more than `rtol` times the integral, the part with the largest error is halved: at most `steps`
/// times, for which there is memory from the beginning. Errors below `1e-14` of the integral of `|f|`, or `6e-6` for `f32`, are not seen.
///
/// Derivatives by the ends and by everything that `f` uses are those of the last sum; the parts are constant for them. For an infinite end,
/// substitute: the integral from 0 on is that of `f(t / (1 - t)) / (1 - t)²` from 0 to 1.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Accuracy, quad};
///
/// let area = afun(|a: Acc<Scalar<f64>>, end: Acc<Scalar<f64>>| {
///     quad(Accuracy { steps: 50, ..Accuracy::default() }, |x: Exp<f64>| (the(a) * x).sin(), 0.0, the(end)).value
/// });
/// let (value, (by_a, by_end)) = run(value_and_grad(&area), (&Array::scalar(2.0), &Array::scalar(3.0)))?;
/// let near = |x: f64, y: f64| (x - y).abs() < 1e-12;
/// let (sin, cos) = 6f64.sin_cos();
/// assert!(near(value.item(), (1.0 - cos) / 2.0)); // (1 - cos (a end)) / a
/// assert!(near(by_a.item(), 3.0 * sin / 2.0 - (1.0 - cos) / 4.0) && near(by_end.item(), sin));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn quad<T: Floating>(
    accuracy: Accuracy,
    f: impl Fn(Exp<T>) -> Exp<T>,
    a: impl ToExp<T>,
    b: impl ToExp<T>,
) -> Integral<T> {
    attributed(("quad", Location::caller()), || {
        let (a, length) = (unit(a.to_exp()), unit(b.to_exp()));
        let length = length - a;
        // Parts of the interval from 0 to 1, which is a copy of that from a to b.
        let at = |u: Exp<T>| f(the(a) + the(length) * u) * the(length);
        let values = |parts: Parts<T>| values(at, parts);
        let room = accuracy.steps + 1;
        let (parts, estimate, steps) = halved(accuracy, room, |parts| detached(values(parts)));
        let [sum_of_errors, sum_of_values] = [estimate.1, estimate.0].map(sum);
        let value = sum(parts.1 * matvec(values(parts), weights(&KRONROD)));
        let converged = unit(enough(accuracy, sum_of_values, sum_of_errors));
        Integral { value, error: sum_of_errors, steps, converged }
    })
}

/// Where parts of an interval begin, and how long they are.
type Parts<T> = (V<T>, V<T>);
/// Integrals over parts, and their errors.
type Estimates<T> = (V<T>, V<T>);

/// Halves the part with the largest error until the error of the sum is small enough. Parts that are not used have the length 0.
fn halved<T: Floating>(
    accuracy: Accuracy,
    room: i64,
    values: impl Fn(Parts<T>) -> Acc<Matrix<T>>,
) -> (Parts<T>, Estimates<T>, Steps) {
    type State<T> = (Parts<T>, Estimates<T>, Steps);
    let estimates = |parts: Parts<T>| estimates(values(parts), parts.1);
    let step = |((begins, lengths), (integrals, errors), steps): State<T>| {
        let (worst, free) = (the(argmax(errors)), the(steps) + 1);
        let half = unit(lengths.at(worst) * lit::<T>(0.5));
        let begin = unit(begins.at(worst));
        let both = (generate(2, |i: Exp<i64>| cond(i.eq(0), the(begin), the(begin) + the(half))), fill(2, the(half)));
        let new = estimates(both);
        let replaced = |all: V<T>, new: V<T>| set(set(all, worst, new.at(0)), free, new.at(1));
        let parts = (replaced(begins, both.0), replaced(lengths, both.1));
        (parts, (replaced(integrals, new.0), replaced(errors, new.1)), next(steps))
    };
    let goes_on = |(_, (integrals, errors), steps): State<T>| {
        enough(accuracy, sum(integrals), sum(errors)).not().and(the(steps).lt(accuracy.steps))
    };
    let none = || fill(room, lit::<T>(0.0));
    let whole = (fill(1, lit::<T>(0.0)), fill(1, lit::<T>(1.0)));
    let first = estimates(whole);
    let with_first = |first: V<T>| set(none(), 0i64, first.at(0));
    let begin = ((none(), with_first(whole.1)), (with_first(first.0), with_first(first.1)), unit(0i64));
    awhile(goes_on, step, begin)
}

/// Whether the error of an integral is small enough, or no number.
fn enough<T: Floating>(accuracy: Accuracy, integral: S<T>, error: S<T>) -> Exp<bool> {
    the(error).le((the(integral).abs() * lit::<T>(accuracy.rtol)).max(lit::<T>(accuracy.atol)))
}

/// Values of `f` at the places of each part, in rows.
fn values<T: Floating>(f: impl Fn(Exp<T>) -> Exp<T>, (begins, lengths): Parts<T>) -> Acc<Matrix<T>> {
    let places = weights::<T>(&PLACES);
    generate((begins.len(), PLACES.len() as i64), |(i, k): (Exp<i64>, Exp<i64>)| {
        let at = begins.at(i) + lengths.at(i) * (places.at(k) * lit::<T>(0.5) + lit::<T>(0.5));
        cond(lengths.at(i).gt(lit::<T>(0.0)), f(at), lit::<T>(0.0))
    })
}

/// The integrals over parts of these lengths, and their errors, from values in rows (Piessens and others 1983, QK21).
fn estimates<T: Floating>(values: Acc<Matrix<T>>, lengths: V<T>) -> Estimates<T> {
    let means = matvec(values, weights(&KRONROD));
    let spread = matvec((values - crate::column(means)).abs(), weights(&KRONROD));
    let size = matvec(values.abs(), weights(&KRONROD));
    let difference = (means - matvec(values, weights(&GAUSS))).abs();
    let error = |e: Exp<T>, spread: Exp<T>| {
        let part = (e / spread * lit::<T>(200.0)).powf(lit::<T>(1.5)).min(lit::<T>(1.0));
        cond(spread.gt(lit::<T>(0.0)), spread * part, e)
    };
    let rounding = lit::<T>(50.0) * epsilon::<T>();
    let errors = zip_with(|e: Exp<T>, size: Exp<T>| e.max(size * rounding), zip_with(error, difference, spread), size);
    (lengths * means, lengths * errors)
}

fn detached<T: Floating>(values: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    map(|x: Exp<T>| x.detach(), values)
}

/// A constant vector.
fn weights<T: Floating>(numbers: &[f64]) -> V<T> {
    use_(&Array::vector(numbers.iter().map(|x| T::from_f64(*x)).collect()))
}

/// The places between -1 and 1.
const PLACES: [f64; 21] = [
    -0.9956571630258081,
    -0.9739065285171717,
    -0.9301574913557082,
    -0.8650633666889845,
    -0.7808177265864169,
    -0.6794095682990244,
    -0.5627571346686047,
    -0.4333953941292472,
    -0.2943928627014602,
    -0.14887433898163122,
    0.0,
    0.14887433898163122,
    0.2943928627014602,
    0.4333953941292472,
    0.5627571346686047,
    0.6794095682990244,
    0.7808177265864169,
    0.8650633666889845,
    0.9301574913557082,
    0.9739065285171717,
    0.9956571630258081,
];
/// The weights of all places, for a mean.
const KRONROD: [f64; 21] = [
    0.005847319433685937,
    0.016279081153982362,
    0.027377948287175997,
    0.03751983740545998,
    0.0465627272918488,
    0.05469357940114882,
    0.06174598813103292,
    0.06735460865573667,
    0.07138796928853004,
    0.07386955245066924,
    0.07472277700145845,
    0.07386955245066924,
    0.07138796928853004,
    0.06735460865573667,
    0.06174598813103292,
    0.05469357940114882,
    0.0465627272918488,
    0.03751983740545998,
    0.027377948287175997,
    0.016279081153982362,
    0.005847319433685937,
];
/// The weights of every other place, for a mean.
const GAUSS: [f64; 21] = [
    0.0,
    0.03333567215434407,
    0.0,
    0.0747256745752903,
    0.0,
    0.10954318125799102,
    0.0,
    0.13463335965499817,
    0.0,
    0.14776211235737644,
    0.0,
    0.14776211235737644,
    0.0,
    0.13463335965499817,
    0.0,
    0.10954318125799102,
    0.0,
    0.0747256745752903,
    0.0,
    0.03333567215434407,
    0.0,
];
