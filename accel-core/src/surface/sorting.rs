//! Sorting, written in terms of [`argsort`]: sorted arrays are gathers, and so are their derivatives.

use super::graph::attribute_to;
use super::index::{index_head, index_tail, snoc};
use super::primitives::agree;
use super::{Acc, IntoShape, argsort, generate, reverse, shape, take_along};
use crate::array::Array;
use crate::repr::Agreement;
use crate::types::{Elt, Primitive, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// As [`argsort`](super::argsort()), from the largest element to the smallest one. Equal elements stay in the order of
/// their positions, and NaN come first.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|keys: Acc<Vector<i32>>| argsort_descending(keys));
/// let positions = run_with(&Interpreter, &program, &Array::vector(vec![5, 7, 5]))?;
/// assert_eq!(positions.as_slice(), [1, 0, 2]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn argsort_descending<Sh: Shape, K: Primitive>(keys: Arr<Snoc<Sh>, K>) -> Arr<Snoc<Sh>, i64> {
    let _site = attribute_to("argsort_descending", Location::caller());
    let sh = shape(keys);
    let last = index_head(sh) - 1;
    // Equal elements are exchanged twice.
    let ascending = argsort(reverse(keys));
    generate(sh, |ix| {
        let ix = ix.into_shape();
        last - ascending.at(snoc(index_tail(ix), last - index_head(ix)))
    })
}

/// The elements of each innermost row, from the smallest one to the largest one. [`argsort`](super::argsort()) describes
/// the order. The derivative of an element of the result is that of the element that it was before.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|xs: Acc<Matrix<f32>>| sort(xs));
/// let xs = Array::from_vec([2, 3], vec![3.0, 1.0, 2.0, 5.0, 6.0, 4.0])?;
/// assert_eq!(run_with(&Interpreter, &program, &xs)?.as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn sort<Sh: Shape, K: Primitive>(xs: Arr<Snoc<Sh>, K>) -> Arr<Snoc<Sh>, K> {
    let _site = attribute_to("sort", Location::caller());
    take_along(argsort(xs), xs)
}

/// The elements of each innermost row, from the largest one to the smallest one; NaN come first.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|xs: Acc<Vector<u8>>| sort_descending(xs));
/// assert_eq!(run_with(&Interpreter, &program, &Array::vector(vec![5, 7, 6]))?.as_slice(), [7, 6, 5]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn sort_descending<Sh: Shape, K: Primitive>(xs: Arr<Snoc<Sh>, K>) -> Arr<Snoc<Sh>, K> {
    let _site = attribute_to("sort_descending", Location::caller());
    take_along(argsort_descending(xs), xs)
}

/// Sorts each innermost row of `keys`, and moves the elements of `values` as their keys move. Elements with equal keys
/// stay in their order, so sorting by one key after the other sorts by several keys, the last one first. Arrays of
/// different shapes are an error when the program runs. [`argsort`](super::argsort()) describes the order.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|keys: Acc<Vector<i64>>, values: Acc<Vector<f64>>| sort_by_key(keys, values));
/// let (keys, values) = (Array::vector(vec![2, 1, 2]), Array::vector(vec![0.1, 0.2, 0.3]));
/// let (keys, values) = run_with(&Interpreter, &program, (&keys, &values))?;
/// assert_eq!(keys.as_slice(), [1, 2, 2]);
/// assert_eq!(values.as_slice(), [0.2, 0.1, 0.3]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn sort_by_key<Sh: Shape, K: Primitive, T: Elt>(
    keys: Arr<Snoc<Sh>, K>,
    values: Arr<Snoc<Sh>, T>,
) -> (Arr<Snoc<Sh>, K>, Arr<Snoc<Sh>, T>) {
    let site = ("sort_by_key", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let values = agree(site, Agreement::All, keys, values);
    let from = argsort(keys);
    (take_along(from, keys), take_along(from, values))
}

/// As [`sort_by_key`], from the largest key to the smallest one. Elements with equal keys stay in their order, and NaN
/// come first.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|keys: Acc<Vector<i64>>, values: Acc<Vector<f64>>| sort_by_key_descending(keys, values).1);
/// let (keys, values) = (Array::vector(vec![2, 1, 2]), Array::vector(vec![0.1, 0.2, 0.3]));
/// assert_eq!(run_with(&Interpreter, &program, (&keys, &values))?.as_slice(), [0.1, 0.3, 0.2]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn sort_by_key_descending<Sh: Shape, K: Primitive, T: Elt>(
    keys: Arr<Snoc<Sh>, K>,
    values: Arr<Snoc<Sh>, T>,
) -> (Arr<Snoc<Sh>, K>, Arr<Snoc<Sh>, T>) {
    let site = ("sort_by_key_descending", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let values = agree(site, Agreement::All, keys, values);
    let from = argsort_descending(keys);
    (take_along(from, keys), take_along(from, values))
}
