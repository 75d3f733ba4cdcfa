//! Sums of numbers of elements, which do not wrap.

use super::{Exp, ToExp};
use crate::repr::MAX_EXTENT;

/// The largest extent of an array.
#[track_caller]
pub(super) fn largest_extent() -> Exp<i64> {
    (MAX_EXTENT as i64).to_exp()
}

/// A number for computations of extents: no array has the extents that are replaced, nor those that replace them.
#[track_caller]
pub(super) fn cut_off(n: Exp<i64>) -> Exp<i64> {
    let beyond = MAX_EXTENT as i64 + 1;
    n.max(-beyond).min(beyond)
}

/// The sum of two numbers of elements that [`cut_off`] or this function gave. It is associative, and larger than any extent if the sum is:
/// NOTE [Extents do not wrap].
#[track_caller]
pub(super) fn plus(x: Exp<i64>, y: Exp<i64>) -> Exp<i64> {
    (x + y).min(largest_extent() + 1)
}
