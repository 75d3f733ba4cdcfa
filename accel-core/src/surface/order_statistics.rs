//! Order statistics of rows: the largest elements, quantiles, and the median. Derivatives are those of the elements that are chosen.

use super::graph::attribute_to;
use super::index::{index_head, index_tail, snoc};
use super::primitives::bounded;
use super::{Acc, Exp, IntoShape, ToExp, argsort_descending, cond, generate, lit, shape, sort, take, take_along};
use crate::array::Array;
use crate::types::{Dim1, Floating, Primitive, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// The `k` largest elements of each innermost row, from the largest one on, and their positions. Of equal elements, the first one comes
/// first; NaN come before all numbers. In JAX, `lax.top_k(xs, k)`. A `k` that is negative or larger than a row is an error when the program
/// runs.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let best = afun(|xs: Acc<Vector<f64>>| top_k(2, xs));
/// let (values, positions) = run_with(&Interpreter, &best, &Array::vector(vec![3.0, 1.0, 7.0, 5.0]))?;
/// assert_eq!((values.as_slice(), positions.as_slice()), (&[7.0, 5.0][..], &[2, 3][..]));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn top_k<Sh: Shape, T: Primitive>(
    k: impl ToExp<i64>,
    xs: Arr<Snoc<Sh>, T>,
) -> (Arr<Snoc<Sh>, T>, Arr<Snoc<Sh>, i64>) {
    let site = ("top_k", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let (k, n) = (k.to_exp(), index_head(shape(xs)));
    let xs = bounded::<Dim1, _, _>(site, &[k], |_| (0i64.to_exp(), n), xs);
    let positions = take(k, argsort_descending(xs));
    (take_along(positions, xs), positions)
}

/// The quantile `q` of each innermost row: the number that a share `q` of its elements does not exceed, from the least element for 0 to the
/// greatest one for 1, and between two elements on the line through them. In NumPy, `quantile(xs, q, axis=-1)`.
///
/// It is NaN for a row with NaN, for an empty row, and if `q` is not between 0 and 1.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let quartile = afun(|xs: Acc<Vector<f64>>| quantile(0.25, xs));
/// assert_eq!(run_with(&Interpreter, &quartile, &Array::vector(vec![8.0, 1.0, 2.0]))?.item(), 1.5);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn quantile<Sh: Shape, T: Floating>(q: impl ToExp<T>, xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("quantile", Location::caller());
    let (q, sh, sorted) = (q.to_exp(), shape(xs), sort(xs));
    let last = index_head(sh) - 1;
    generate(index_tail(sh), |ix| {
        let row = ix.into_shape();
        let place = q * last.cast::<T>();
        let first = place.floor().cast::<i64>().min(last).max(0);
        let at = |i: Exp<i64>| sorted.at(snoc(row, i));
        let between = between(at(first), at((first + 1).min(last)), place - first.cast::<T>());
        let is_defined = q.ge(lit::<T>(0.0)).and(q.le(lit::<T>(1.0))).and(last.ge(0));
        // NaN come last.
        let of_numbers = cond::<T>(at(last).is_nan(), lit::<T>(f64::NAN), between);
        cond::<T>(is_defined, of_numbers, lit::<T>(f64::NAN))
    })
}

/// The median of each innermost row, its [`quantile`] 1/2: the middle element, or the mean of the two in the middle. In NumPy,
/// `median(xs, axis=-1)`. It is NaN for a row with NaN, and for an empty one.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let middle = afun(|xs: Acc<Vector<f64>>| median(xs));
/// assert_eq!(run_with(&Interpreter, &middle, &Array::vector(vec![9.0, 1.0, 4.0, 2.0]))?.item(), 3.0);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn median<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("median", Location::caller());
    quantile(lit::<T>(0.5), xs)
}

/// The number at the share `t` of the way from `x` to `y`, which may be infinite.
fn between<T: Floating>(x: Exp<T>, y: Exp<T>, t: Exp<T>) -> Exp<T> {
    let (distance, zero, one) = (y - x, lit::<T>(0.0), lit::<T>(1.0));
    let of_infinities = cond::<T>(t.eq(zero), x, x * (one - t) + y * t);
    cond::<T>(distance.is_finite(), x + distance * t, of_infinities)
}
