//! Functions of innermost rows that neither overflow nor vanish: sums of exponentials, and the norm.
//!
//! NOTE [Shifts are constants]
//!
//! All of them shift or scale a row by its largest element. The result does not depend on it, so its derivative is zero; computed,
//! it would be a difference of nearly equal numbers. Hence the largest element is detached.

use super::graph::attribute_to;
use super::{Acc, Exp, cond, fold, index_head, lit, map, replicate_inner, scanl1, shape, sum, zip_with_min};
use crate::array::Array;
use crate::repr::ScalarType;
use crate::types::{Floating, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// ln(e^x0 + e^x1 + …) of each innermost row; -∞ for an empty row, and for one of which all elements are -∞.
#[track_caller]
pub fn log_sum_exp<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("log_sum_exp", Location::caller());
    let most = largest(xs);
    zip_with_min(|most, log| most + log, most, log_of_sum(shifted(most, xs)))
}

/// The exponentials of each innermost row divided by their sum; 0 for a row of which all elements are -∞.
#[track_caller]
pub fn softmax<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("softmax", Location::caller());
    let exponentials = map(|d| d.exp(), shifted(largest(xs), xs));
    let total = map(|total| cond::<T>(total.eq(lit::<T>(0.0)), lit::<T>(1.0), total), sum(exponentials));
    with_rows(|e, total| e / total, exponentials, total)
}

/// The logarithm of [`softmax`], also where that vanishes.
#[track_caller]
pub fn log_softmax<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("log_softmax", Location::caller());
    let differences = shifted(largest(xs), xs);
    with_rows(|d, log| d - log, differences, log_of_sum(differences))
}

/// The logarithm of the sum of the exponentials of each innermost row up to each place: ln(e^x0 + … + e^xi) at i. The last element of a row is
/// its [`log_sum_exp`]. In PyTorch, `logcumsumexp(xs, -1)`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let sums = afun(|xs: Acc<Vector<f64>>| log_cumsum_exp(xs));
/// let found = run_with(&Interpreter, &sums, &Array::vector(vec![-1000.0, 1000.0]))?;
/// assert_eq!(found.as_slice(), [-1000.0, 1000.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn log_cumsum_exp<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("log_cumsum_exp", Location::caller());
    scanl1(|x, y| x.log_add_exp(y), xs)
}

/// The Euclidean norm of each innermost row. Its derivative at 0 is 0.
#[track_caller]
pub fn norm<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("norm", Location::caller());
    // The square of the smallest number divided by this does not vanish.
    let least = match T::SCALAR {
        ScalarType::F32 => f64::from(f32::MIN_POSITIVE / f32::EPSILON),
        _ => f64::MIN_POSITIVE / f64::EPSILON,
    };
    let most = largest(map(|x| x.abs(), xs));
    let scale = map(|most| cond::<T>(most.is_finite(), most.max(lit::<T>(least)), lit::<T>(1.0)), most);
    let squares = with_rows(|x, scale| (x / scale) * (x / scale), xs, scale);
    zip_with_min(|scale, s| cond::<T>(s.eq(lit::<T>(0.0)), lit::<T>(0.0), scale * s.sqrt()), scale, sum(squares))
}

/// The largest element of each row as a constant: NOTE [Shifts are constants]. -∞ for an empty row.
fn largest<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    map(|most| most.detach(), fold(|a, b| a.max(b), lit::<T>(f64::NEG_INFINITY), xs))
}

/// The differences of the elements and `most`. An infinite `most` does not shift.
fn shifted<Sh: Shape, T: Floating>(most: Arr<Sh, T>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    with_rows(|x, shift| x - shift, xs, map(|most| cond::<T>(most.is_finite(), most, lit::<T>(0.0)), most))
}

/// The logarithm of the sum of the exponentials of differences to the largest element, precise also where it is near 0: the
/// largest elements, whose exponential is 1, are counted apart from the others. If there are none, the largest element is infinite or
/// NaN, and the result is such that adding both gives an infinity or NaN.
fn log_of_sum<Sh: Shape, T: Floating>(differences: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let is_largest = |d: Exp<T>| cond::<T>(d.eq(lit::<T>(0.0)), lit::<T>(1.0), lit::<T>(0.0));
    let others = sum(map(|d| d.exp() - is_largest(d), differences));
    let count = sum(map(is_largest, differences));
    let log = |n: Exp<T>, rest: Exp<T>| cond::<T>(n.eq(lit::<T>(0.0)), rest, n.ln() + (rest / n).ln_1p());
    zip_with_min(log, count, others)
}

/// Applies `f` to each element and the number of its row.
fn with_rows<Sh: Shape, T: Floating>(
    f: impl FnOnce(Exp<T>, Exp<T>) -> Exp<T>,
    xs: Arr<Snoc<Sh>, T>,
    rows: Arr<Sh, T>,
) -> Arr<Snoc<Sh>, T> {
    zip_with_min(f, xs, replicate_inner(index_head(shape(xs)), rows))
}
