//! Rows with equal numbers taken together: their sums, their largest and smallest elements, and their shares.
//!
//! The rows need not be sorted by their numbers. All of them are scatters, and so are differentiated as those are.

use super::graph::attribute_to;
use super::index::{components, from_components};
use super::nodes::At;
use super::primitives::agree;
use super::{Acc, Exp, IntoShape, ToExp, cond, constant, fill, generate, lit, map, permute, shape};
use crate::array::{Array, Vector};
use crate::repr::Agreement;
use crate::types::{Floating, Num, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// The sums of the rows of `xs` with equal numbers in `to`: for each of the numbers 0, …, `n` - 1 the sum of those rows `xs[i]` with
/// `to[i]` equal to it, and 0 if there are none. The rows are those along the outermost dimension: the elements of a vector, the rows of
/// a matrix. Rows with other numbers are dropped. In JAX, `segment_sum(xs, to, n)`; the numbers may have any order.
///
/// Another number of rows than of numbers is an error when the program runs, and so is a negative `n`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let totals = afun(|to: Acc<Vector<i64>>, m: Acc<Matrix<f64>>| sums_at(3, to, m));
/// let m = Array::matrix(3, 2, vec![1.0, 2.0, 10.0, 20.0, 100.0, 200.0])?;
/// let found = run_with(&Interpreter, &totals, (&Array::vector(vec![0, 2, 0]), &m))?;
/// assert_eq!(found.as_slice(), [101.0, 202.0, 0.0, 0.0, 10.0, 20.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn sums_at<Sh: Shape, T: Num>(n: impl ToExp<i64>, to: Acc<Vector<i64>>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    combined(("sums_at", Location::caller()), |a, b| a + b, constant(T::zero()), n.to_exp(), to, xs)
}

/// The largest elements of the rows of `xs` with equal numbers in `to`, each in its column: as [`sums_at`] with maxima. Where there are
/// none, it is -∞, or the least integer. As in [`maximum`](super::maximum), NaN do not count. In JAX, `segment_max(xs, to, n)`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let best = afun(|to: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| (max_at(3, to, xs), min_at(3, to, xs)));
/// let (to, xs) = (Array::vector(vec![0, 2, 0]), Array::vector(vec![1.0, 5.0, 2.0]));
/// let (largest, smallest) = run_with(&Interpreter, &best, (&to, &xs))?;
/// assert_eq!(largest.as_slice(), [2.0, f64::NEG_INFINITY, 5.0]);
/// assert_eq!(smallest.as_slice(), [1.0, f64::INFINITY, 5.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn max_at<Sh: Shape, T: Num>(n: impl ToExp<i64>, to: Acc<Vector<i64>>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    combined(("max_at", Location::caller()), |a, b| a.max(b), lit(f64::NEG_INFINITY), n.to_exp(), to, xs)
}

/// The smallest elements of the rows of `xs` with equal numbers in `to`, each in its column: as [`sums_at`] with minima. Where there are
/// none, it is ∞, or the greatest integer. NaN do not count. In JAX, `segment_min(xs, to, n)`.
#[track_caller]
pub fn min_at<Sh: Shape, T: Num>(n: impl ToExp<i64>, to: Acc<Vector<i64>>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    combined(("min_at", Location::caller()), |a, b| a.min(b), lit(f64::INFINITY), n.to_exp(), to, xs)
}

/// The exponential of each element of `xs`, divided by the sum of those in the same column whose rows have the same number in `to`: as
/// [`softmax`](super::softmax) of each group of rows. Rows with other numbers than 0, …, `n` - 1 are 0. It does not overflow, and is 0 where
/// all elements of a group are -∞.
///
/// Another number of rows than of numbers is an error when the program runs, and so is a negative `n`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let shares = afun(|to: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| softmax_at(2, to, xs));
/// let (to, xs) = (Array::vector(vec![0, 1, 0]), Array::vector(vec![1000.0, 5.0, 1000.0]));
/// assert_eq!(run_with(&Interpreter, &shares, (&to, &xs))?.as_slice(), [0.5, 1.0, 0.5]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn softmax_at<Sh: Shape, T: Floating>(
    n: impl ToExp<i64>,
    to: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let site = ("softmax_at", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let n = n.to_exp();
    let xs = agree(site, Agreement::Rows, to, xs);
    // The largest element only shifts: NOTE [Shifts are constants].
    let most = map(|most| most.detach(), max_at(n, to, xs));
    let shift = map(|most| cond::<T>(most.is_finite(), most, lit::<T>(0.0)), most);
    let exponentials = beside_groups(|x, shift| (x - shift).exp(), n, to, xs, shift);
    let totals = map(|t| cond::<T>(t.eq(lit::<T>(0.0)), lit::<T>(1.0), t), sums_at(n, to, exponentials));
    beside_groups(|e, total| e / total, n, to, exponentials, totals)
}

/// The rows of `xs` with equal numbers, combined; `none` where there are none.
fn combined<Sh: Shape, T: Num>(
    site: (&'static str, At),
    combine: impl FnOnce(Exp<T>, Exp<T>) -> Exp<T>,
    none: Exp<T>,
    n: Exp<i64>,
    to: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to(site.0, site.1);
    let xs = agree(site, Agreement::Rows, to, xs);
    let mut extents = components(shape(xs));
    extents[0] = n;
    let place = |ix: <Snoc<Sh> as Shape>::Index| {
        let mut ix = components(ix.into_shape());
        ix[0] = to.at(ix[0]);
        (ix[0].ge(0).and(ix[0].lt(n)), from_components::<Snoc<Sh>>(&ix))
    };
    permute(combine, fill(from_components::<Snoc<Sh>>(&extents), none), place, xs)
}

/// Applies `f` to each element and to what `groups` has in its column for the number of its row; 0 for rows with other numbers.
#[track_caller]
fn beside_groups<Sh: Shape, T: Num>(
    f: impl FnOnce(Exp<T>, Exp<T>) -> Exp<T>,
    n: Exp<i64>,
    to: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
    groups: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    generate(shape(xs), |ix| {
        let ix = ix.into_shape();
        let mut place = components(ix);
        place[0] = to.at(place[0]);
        let is_inside = place[0].ge(0).and(place[0].lt(n));
        cond::<T>(is_inside, f(xs.at(ix), groups.at(from_components::<Snoc<Sh>>(&place))), constant(T::zero()))
    })
}
