//! Vectors whose lengths are known when the program runs: elements that satisfy a condition, and positions of segments.
//!
//! All of them count, and scatter what they count: a scan gives the places of the elements, and the last sum is the length. So they
//! are differentiated as gathers and scatters are.

use super::element_counts::{cut_off, plus};
use super::graph::{attribute_to, users};
use super::library::rung;
use super::{
    Acc, Exp, ToExp, argsort, cond, fill, gather, generate, iota, lit, map, permute, scanl_ex, scanl1, sums_at, take,
    the, while_,
};
use crate::array::{Scalar, Vector};
use crate::types::{Elt, Floating, Primitive};
use std::panic::Location;

/// The elements for which `keep` is true, in their order.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let positive = afun(|xs: Acc<Vector<f64>>| filter(|x| x.gt(0.0), xs));
/// let xs = Array::vector(vec![1.0, -2.0, 3.0]);
/// assert_eq!(run_with(&Interpreter, &positive, &xs)?.to_vec(), [1.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn filter<T: Elt, R: ToExp<bool>>(keep: impl FnOnce(T::Exp) -> R, xs: Acc<Vector<T>>) -> Acc<Vector<T>> {
    let _site = attribute_to("filter", Location::caller());
    selected(kept(keep, xs), xs)
}

/// The elements for which `keep` is true, and the others, each in their order.
#[track_caller]
pub fn partition<T: Elt, R: ToExp<bool>>(
    keep: impl FnOnce(T::Exp) -> R,
    xs: Acc<Vector<T>>,
) -> (Acc<Vector<T>>, Acc<Vector<T>>) {
    let _site = attribute_to("partition", Location::caller());
    let keep = kept(keep, xs);
    (selected(keep, xs), selected(map(|keep| !keep, keep), xs))
}

/// The different elements, sorted. The derivative goes to the first of equal elements. (In NumPy, this is `unique`.)
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let xs = Array::vector(vec![3i64, 1, 3, 2, 1]);
/// assert_eq!(run_with(&Interpreter, &afun(unique::<i64>), &xs)?.to_vec(), [1, 2, 3]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn unique<K: Primitive>(xs: Acc<Vector<K>>) -> Acc<Vector<K>> {
    let _site = attribute_to("unique", Location::caller());
    let order = argsort(xs);
    let sorted = gather(order, xs);
    let first = generate(sorted.len(), |i: Exp<i64>| {
        let (x, before) = (sorted.at(i), sorted.at((i - 1).max(0)));
        // All NaN are equal here, as for `sort`; they come last.
        i.eq(0).or(x.ne(before).and(before.eq(before)))
    });
    selected(first, sorted)
}

/// For each element of segments with these lengths the number of its segment: `lengths[k]` times `k`, for all `k`. Negative lengths
/// count as 0.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let segments = afun(|lengths: Acc<Vector<i64>>| expand(lengths));
/// let lengths = Array::vector(vec![2i64, 0, 3]);
/// assert_eq!(run_with(&Interpreter, &segments, &lengths)?.to_vec(), [0, 0, 2, 2, 2]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn expand(lengths: Acc<Vector<i64>>) -> Acc<Vector<i64>> {
    let _site = attribute_to("expand", Location::caller());
    let lengths = map(|n| cut_off(n.max(0)), lengths);
    let (starts, total) = scanl_ex(plus, 0i64, lengths);
    let total = the(total);
    // At each place, how many segments begin there; the empty ones at the end begin behind the last place.
    map(|k| k - 1, scanl1(|a, b| a + b, bincount(total, starts)))
}

/// How often each of the numbers 0, …, `n` - 1 occurs. Other numbers do not count. A negative `n` is an error when the program runs. In
/// JAX, `bincount(xs, length=n)`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let counts = afun(|xs: Acc<Vector<i64>>| bincount(3, xs));
/// assert_eq!(run_with(&Interpreter, &counts, &Array::vector(vec![0i64, 2, 2, 7, -1]))?.to_vec(), [1, 0, 2]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn bincount(n: impl ToExp<i64>, xs: Acc<Vector<i64>>) -> Acc<Vector<i64>> {
    let _site = attribute_to("bincount", Location::caller());
    sums_at(n, xs, fill(xs.len(), 1i64))
}

/// How many elements are in each of `n` bins of equal width, from `first` to `last`. The edges are those of
/// `linspace(first, last, n + 1)`; an edge between two bins belongs to the upper one, and `last` to the last bin. Elements outside and
/// NaN do not count, and none does if `first` is not below `last`, or one of them is infinite. A negative `n` is an error when the program runs. In NumPy,
/// `histogram(xs, bins=n, range=(first, last))[0]`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let counts = afun(|xs: Acc<Vector<f64>>| histogram(2, (0.0, 1.0), xs));
/// assert_eq!(run_with(&Interpreter, &counts, &Array::vector(vec![0.1, 0.5, 1.0, 1.1]))?.to_vec(), [1, 2]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn histogram<T: Floating>(
    n: impl ToExp<i64>,
    (first, last): (impl ToExp<T>, impl ToExp<T>),
    xs: Acc<Vector<T>>,
) -> Acc<Vector<i64>> {
    let _site = attribute_to("histogram", Location::caller());
    let (n, first, last) = (n.to_exp(), first.to_exp(), last.to_exp());
    let half = lit::<T>(0.5);
    let bin_of = |x: Exp<T>| {
        // Half of a width does not overflow.
        let share = (x * half - first * half) / (last * half - first * half);
        let bin = (share * n.cast::<T>()).cast::<i64>().min(n - 1);
        // The quotient is rounded, the edges decide. Of a narrow range, several edges may be equal.
        let bin = while_(|bin| bin.gt(0).and(x.lt(rung(first, last, bin, n))), |bin| bin - 1, bin);
        while_(|bin| bin.lt(n - 1).and(x.ge(rung(first, last, bin + 1, n))), |bin| bin + 1, bin)
    };
    let is_range = first.lt(last).and(first.is_finite()).and(last.is_finite());
    let inside = |x: Exp<T>| is_range.and(x.ge(first)).and(x.le(last));
    bincount(n, map(|x| cond::<i64>(inside(x), bin_of(x), -1), xs))
}

fn kept<T: Elt, R: ToExp<bool>>(keep: impl FnOnce(T::Exp) -> R, xs: Acc<Vector<T>>) -> Acc<Vector<bool>> {
    map(|x| users(|| keep(x)).to_exp(), xs)
}

/// The elements at places where `keep` is true.
fn selected<T: Elt>(keep: Acc<Vector<bool>>, xs: Acc<Vector<T>>) -> Acc<Vector<T>> {
    let ones = map(|keep| cond::<i64>(keep, 1, 0), keep);
    let (places, count): (Acc<Vector<i64>>, Acc<Scalar<i64>>) = scanl_ex(|a, b| a + b, 0i64, ones);
    let count = the(count);
    let from =
        permute(|new, _| new, take(count, iota(xs.len())), |i: Exp<i64>| (keep.at(i), places.at(i)), iota(xs.len()));
    gather(from, xs)
}
