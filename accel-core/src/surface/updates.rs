//! Arrays in which some elements are replaced.
//!
//! A program has values, not memory: an update makes a new array. It costs only the elements that change if the old array is not
//! used any more, because the new one then takes over its memory. This is so for the state of a loop that is updated in
//! each step.

use super::graph::{attribute_to, users};
use super::index::{components, from_components};
use super::primitives::{agree_shapes, permute, steps_checked};
use super::slicing::{kept_extents, larger_index};
use super::{Acc, All, IntoShape, Slicing, ToExp, shape, unit};
use crate::array::{Array, Matrix, Vector};
use crate::repr::Agreement;
use crate::types::{Elt, Shape};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// The array `xs` with `x` at the index `at`. An index out of bounds is an error when the program runs.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // 0, 1, 1, 2, 3, 5, ...
/// let fibonacci = afun(|n: Acc<Scalar<i64>>| {
///     let start = generate(the(n), |i| i.min(1));
///     let step = |(k, xs): (Acc<Scalar<i64>>, Acc<Vector<i64>>)| {
///         let i = the(k);
///         (unit(i + 1), set(xs, i, xs.at(i - 1) + xs.at(i - 2)))
///     };
///     awhile(|(k, xs)| the(k).lt(xs.len()), step, (unit(2i64), start)).1
/// });
/// let numbers = run_with(&Interpreter, &fibonacci, &Array::scalar(8i64))?;
/// assert_eq!(numbers.as_slice(), [0, 1, 1, 2, 3, 5, 8, 13]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn set<Sh: Shape, T: Elt, I: IntoShape<Sh = Sh>>(xs: Arr<Sh, T>, at: I, x: impl ToExp<T>) -> Arr<Sh, T> {
    let _site = attribute_to("set", Location::caller());
    let at = at.into_shape();
    permute(|new, _| new, xs, |()| (true, at), unit(x.to_exp()))
}

/// The array `xs` with `f` applied to the element at the index `at`. An index out of bounds is an error when the program runs.
#[track_caller]
pub fn update<Sh: Shape, T: Elt, R: ToExp<T>, I: IntoShape<Sh = Sh>>(
    xs: Arr<Sh, T>,
    at: I,
    f: impl FnOnce(T::Exp) -> R,
) -> Arr<Sh, T> {
    let _site = attribute_to("update", Location::caller());
    let at = at.into_shape();
    let x = users(|| f(xs.at(at)));
    set(xs, at, x)
}

/// The array `xs` in which `part` replaces the part that [`slice`](super::slice) with the same dimensions gives. An index out of bounds is
/// an error when the program runs, and so is a part of another shape.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|m: Acc<Matrix<f64>>, column: Acc<Vector<f64>>| set_slice(m, (All, 1i64), column));
/// let m = Array::matrix(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let m = run_with(&Interpreter, &program, (&m, &Array::vector(vec![7.0, 8.0])))?;
/// assert_eq!(m.as_slice(), [1.0, 7.0, 3.0, 4.0, 8.0, 6.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn set_slice<S: Slicing, T: Elt>(xs: Arr<S::Large, T>, dims: S, part: Arr<S::Small, T>) -> Arr<S::Large, T> {
    let site = ("set_slice", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let extents = components(shape(xs));
    let parts = dims.parts(&extents);
    let part = steps_checked(site, &parts, part);
    let part = agree_shapes(site, Agreement::All, kept_extents::<S::Small>(&parts, &extents), shape(part), part);
    permute(|new, _| new, xs, |ix| (true, larger_index::<S::Small, S::Large>(&parts, ix)), part)
}

/// The matrix `m` with `row` as its row `i`. An index out of bounds is an error when the program runs, and so is a row of another
/// length.
#[track_caller]
pub fn set_row<T: Elt>(m: Acc<Matrix<T>>, i: impl ToExp<i64>, row: Acc<Vector<T>>) -> Acc<Matrix<T>> {
    let _site = attribute_to("set_row", Location::caller());
    set_slice(m, (i.to_exp(), All), row)
}

/// The array `xs` in which `block` replaces the elements from the index `first` on. A block that does not lie inside of `xs` is an
/// error when the program runs.
#[track_caller]
pub fn set_block<Sh: Shape, T: Elt, I: IntoShape<Sh = Sh>>(xs: Arr<Sh, T>, first: I, block: Arr<Sh, T>) -> Arr<Sh, T> {
    let _site = attribute_to("set_block", Location::caller());
    let first = components(first.into_shape());
    let place = |ix: Sh::Index| {
        let all: Vec<_> = components(ix.into_shape()).into_iter().zip(first).map(|(i, first)| first + i).collect();
        (true, from_components::<Sh>(&all))
    };
    permute(|new, _| new, xs, place, block)
}
