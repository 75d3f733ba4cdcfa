//! Tables of sorted numbers: where a number belongs, and what lies between the values of a function.

use super::graph::attribute_to;
use super::primitives::{agree, bounded};
use super::{Acc, Exp, ToExp, cond, map, while_};
use crate::array::{Array, Vector};
use crate::repr::{Agreement, MAX_EXTENT};
use crate::types::{Dim1, Floating, Primitive, Shape};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// For each element of `xs`, how many elements of `sorted` are less: the first place where it can be inserted so that they stay sorted.
/// The order is that of [`sort`](super::sort), in which NaN come last. If the elements are not sorted, the result is some place. In NumPy,
/// `searchsorted(sorted, xs)`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let places = afun(|sorted: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| {
///     (searchsorted(sorted, xs), searchsorted_right(sorted, xs))
/// });
/// let (sorted, xs) = (Array::vector(vec![1.0, 2.0, 2.0, 4.0]), Array::vector(vec![2.0, 0.5, 9.0]));
/// let (left, right) = run_with(&Interpreter, &places, (&sorted, &xs))?;
/// assert_eq!((left.as_slice(), right.as_slice()), (&[1, 0, 4][..], &[3, 0, 4][..]));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn searchsorted<Sh: Shape, T: Primitive>(sorted: Acc<Vector<T>>, xs: Arr<Sh, T>) -> Arr<Sh, i64> {
    let _site = attribute_to("searchsorted", Location::caller());
    map(|x: Exp<T>| bisected(|y| comes_before(y, x), sorted), xs)
}

/// For each element of `xs`, how many elements of `sorted` are not greater: the last place where it can be inserted. Otherwise as
/// [`searchsorted`]. In NumPy, `searchsorted(sorted, xs, side="right")`.
#[track_caller]
pub fn searchsorted_right<Sh: Shape, T: Primitive>(sorted: Acc<Vector<T>>, xs: Arr<Sh, T>) -> Arr<Sh, i64> {
    let _site = attribute_to("searchsorted_right", Location::caller());
    map(|x: Exp<T>| bisected(|y| !comes_before(x, y), sorted), xs)
}

/// The values at `xs` of the function that has the given values at the knots and is linear between them; outside, it is constant. The knots
/// have to be sorted. In NumPy, `interp(xs, knots, values)`.
///
/// The derivative by an element of `xs` is the slope on its right if it is a knot, and 0 outside and at the last knot. Of equal knots, the
/// last one counts. NaN gives NaN. Other numbers of knots and of values are an error when the program runs, and so is no knot at all.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|knots: Acc<Vector<f64>>, values: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| interp(knots, values, xs));
/// let (knots, values) = (Array::vector(vec![0.0, 1.0, 3.0]), Array::vector(vec![5.0, 6.0, 0.0]));
/// let found = run_with(&Interpreter, &program, (&knots, &values, &Array::vector(vec![-1.0, 0.5, 2.0, 3.5])))?;
/// assert_eq!(found.as_slice(), [5.0, 5.5, 3.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn interp<Sh: Shape, T: Floating>(knots: Acc<Vector<T>>, values: Acc<Vector<T>>, xs: Arr<Sh, T>) -> Arr<Sh, T> {
    let site = ("interp", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let values = agree(site, Agreement::All, knots, values);
    let bounds = |_| (1i64.to_exp(), (MAX_EXTENT as i64).to_exp());
    let knots = bounded::<Dim1, _, _>(site, &[knots.len()], bounds, knots);
    let last = knots.len() - 1;
    let value = |x: Exp<T>| {
        let i = (bisected(|knot| !comes_before(x, knot), knots) - 1).min(last - 1).max(0);
        let j = (i + 1).min(last);
        let slope = (values.at(j) - values.at(i)) / (knots.at(j) - knots.at(i));
        let between = slope * (x - knots.at(i)) + values.at(i);
        let or_last = cond::<T>(x.ge(knots.at(last)), values.at(last), between);
        cond::<T>(x.lt(knots.at(0)), values.at(0), or_last)
    };
    map(value, xs)
}

/// Whether a number is before another one in the order of [`sort`](super::sort).
fn comes_before<T: Primitive>(x: Exp<T>, y: Exp<T>) -> Exp<bool> {
    x.lt(y).or(x.eq(x).and(y.ne(y)))
}

/// The number of elements for which `is_left` holds, if these are the first ones.
fn bisected<T: Primitive>(is_left: impl FnOnce(Exp<T>) -> Exp<bool>, sorted: Acc<Vector<T>>) -> Exp<i64> {
    let step = |(low, high): (Exp<i64>, Exp<i64>)| {
        let middle = (low + high) / 2;
        let is_left = is_left(sorted.at(middle));
        (cond::<i64>(is_left, middle + 1, low), cond::<i64>(is_left, high, middle))
    };
    while_(|(low, high): (Exp<i64>, Exp<i64>)| low.lt(high), step, (0i64, sorted.len())).0
}
