//! What is read outside of an array: padding, and stencils, in which each element depends on its neighbours.
//!
//! NOTE [Inside or outside]: the interior of the result is computed without any decision, whatever the boundary is. For this, a read
//! first asks whether its index lies inside, and only then what stands outside; the compiler decides the question for all but the rows
//! and columns at the edges. If another element stands there, each dimension has a question of its own then, so that the compiler knows
//! where the few indices of an edge go: the adjoints are gathers. Clamped indices need no question, because the compiler knows them.

use super::element_counts::largest_extent;
use super::graph::{attribute_to, users};
use super::index::{components, from_components};
use super::primitives::bounded;
use super::{Acc, Exp, IntoExp, IntoShape, ToExp, cond, generate, shape};
use crate::array::Array;
use crate::types::{Elt, Shape};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// What an array of shape `Sh` has outside: [`Clamp`], [`Mirror`], [`Wrap`], [`Constant`], [`Outside`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what stands outside of an array of `{T}`",
    note = "write `Clamp`, `Mirror`, `Wrap`, `Constant(0.0)`, or `Outside(|(i, j): (Exp<i64>, Exp<i64>)| ..)`"
)]
pub trait Boundary<Sh: Shape, T: Elt> {
    /// The element of `xs` at an index that may lie outside.
    fn read(&self, xs: Arr<Sh, T>, ix: Exp<Sh>) -> T::Exp;
}

/// The nearest element: `a a a b c c c` for `a b c`. In NumPy, the mode `edge`.
#[derive(Clone, Copy, Debug)]
pub struct Clamp;
/// The array mirrored at its outermost elements: `c b a b c b a` for `a b c`. In NumPy, the mode `reflect`.
#[derive(Clone, Copy, Debug)]
pub struct Mirror;
/// The array repeated: `b c a b c a b` for `a b c`. In NumPy, the mode `wrap`.
#[derive(Clone, Copy, Debug)]
pub struct Wrap;
/// The same number everywhere. In NumPy, the mode `constant`.
#[derive(Clone, Copy, Debug)]
pub struct Constant<X>(pub X);
/// What a function of the index says; indices outside are negative or not less than the extents.
#[derive(Clone, Copy, Debug)]
pub struct Outside<F>(pub F);

/// The element at the index that `place` gives for the index and the extent of each dimension.
#[track_caller]
fn moved<Sh: Shape, T: Elt>(place: fn(Exp<i64>, Exp<i64>) -> Exp<i64>, xs: Arr<Sh, T>, ix: Exp<Sh>) -> T::Exp {
    let places = components(ix).into_iter().zip(components(shape(xs))).map(|(i, n)| place(i, n));
    xs.at(from_components::<Sh>(&places.collect::<Vec<_>>()))
}

/// The index if it is below `n` and not below 0, and another one if not.
fn or_elsewhere(i: Exp<i64>, n: Exp<i64>, other: Exp<i64>) -> Exp<i64> {
    cond::<i64>(i.ge(0) & i.lt(n), i, other)
}

/// The element at an index, and `outside` if there is none: NOTE [Inside or outside].
#[track_caller]
fn or_outside<Sh: Shape, T: Elt>(xs: Arr<Sh, T>, ix: Exp<Sh>, outside: impl ToExp<T>) -> T::Exp {
    let inside = components(ix).into_iter().zip(components(shape(xs))).map(|(i, n)| i.ge(0) & i.lt(n));
    match inside.reduce(|a, b| a & b) {
        Some(inside) => cond::<T>(inside, xs.at(ix), outside).unlift(),
        None => xs.at(ix),
    }
}

impl<Sh: Shape, T: Elt> Boundary<Sh, T> for Clamp {
    #[track_caller]
    fn read(&self, xs: Arr<Sh, T>, ix: Exp<Sh>) -> T::Exp {
        moved(|i, n| i.max(0).min(n - 1), xs, ix)
    }
}
impl<Sh: Shape, T: Elt> Boundary<Sh, T> for Mirror {
    #[track_caller]
    fn read(&self, xs: Arr<Sh, T>, ix: Exp<Sh>) -> T::Exp {
        let place = |i: Exp<i64>, n: Exp<i64>| {
            let period = 2 * (n - 1);
            let outside = i.rem_euclid(period.max(1));
            or_elsewhere(i, n, outside.min(period - outside))
        };
        or_outside(xs, ix, moved(place, xs, ix))
    }
}
impl<Sh: Shape, T: Elt> Boundary<Sh, T> for Wrap {
    #[track_caller]
    fn read(&self, xs: Arr<Sh, T>, ix: Exp<Sh>) -> T::Exp {
        or_outside(xs, ix, moved(|i, n| or_elsewhere(i, n, i.rem_euclid(n.max(1))), xs, ix))
    }
}
impl<Sh: Shape, T: Elt, X: ToExp<T> + Copy> Boundary<Sh, T> for Constant<X> {
    #[track_caller]
    fn read(&self, xs: Arr<Sh, T>, ix: Exp<Sh>) -> T::Exp {
        or_outside(xs, ix, self.0)
    }
}
impl<Sh: Shape, T: Elt, R: ToExp<T>, F: Fn(Sh::Index) -> R> Boundary<Sh, T> for Outside<F> {
    #[track_caller]
    fn read(&self, xs: Arr<Sh, T>, ix: Exp<Sh>) -> T::Exp {
        or_outside(xs, ix, users(|| (self.0)(ix.index())).to_exp())
    }
}

/// The array with as many further elements as `before` and `after` say on both sides of each dimension: `pad((1, 0), (1, 2), Clamp, m)`
/// is `pad(m, ((1, 1), (0, 2)), "edge")` in NumPy. A negative width is an error when the program runs, and so is, with a boundary
/// that repeats elements, an array without any.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let padded = afun(|v: Acc<Vector<i64>>| (pad(2, 1, Constant(0), v), pad(2, 1, Mirror, v)));
/// let (zeros, mirrored) = run_with(&Interpreter, &padded, &Array::vector(vec![1, 2, 3]))?;
/// assert_eq!(zeros.as_slice(), [0, 0, 1, 2, 3, 0]);
/// assert_eq!(mirrored.as_slice(), [3, 2, 1, 2, 3, 2]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn pad<Sh: Shape, T: Elt>(
    before: impl IntoShape<Sh = Sh>,
    after: impl IntoShape<Sh = Sh>,
    boundary: impl Boundary<Sh, T>,
    xs: Arr<Sh, T>,
) -> Arr<Sh, T> {
    let site = ("pad", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let (before, after) = (components(before.into_shape()), components(after.into_shape()));
    // A negative width would cut elements off.
    let bounds = |_| (0i64.to_exp(), largest_extent());
    let xs = [&before, &after].into_iter().fold(xs, |xs, widths| bounded::<Sh, _, _>(site, widths, bounds, xs));
    let extents = components(shape(xs)).into_iter().zip(before.iter().zip(after)).map(|(n, (a, b))| n + *a + b);
    generate(from_components::<Sh>(&extents.collect::<Vec<_>>()), |ix| {
        let places = components(ix.into_shape()).into_iter().zip(&before).map(|(i, a)| i - *a);
        boundary.read(xs, from_components(&places.collect::<Vec<_>>()))
    })
}

/// The neighbours of an element in a [`stencil`].
#[derive(Debug)]
pub struct Neighbours<'b, Sh: Shape, T: Elt, B> {
    xs: Arr<Sh, T>,
    ix: Exp<Sh>,
    boundary: &'b B,
}

impl<Sh: Shape, T: Elt, B: Boundary<Sh, T>> Neighbours<'_, Sh, T, B> {
    /// The neighbour at this distance in each dimension; `x.at((0, 0))` is the element itself.
    #[track_caller]
    pub fn at(&self, offset: impl IntoShape<Sh = Sh>) -> T::Exp {
        let _site = attribute_to("stencil", Location::caller());
        let places = components(self.ix).into_iter().zip(components(offset.into_shape())).map(|(i, d)| i + d);
        self.boundary.read(self.xs, from_components(&places.collect::<Vec<_>>()))
    }
}

/// Applies `f` to the neighbours of each element. Outside of the array, the neighbours are what `boundary` says.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let heat = afun(|m: Acc<Matrix<f64>>| {
///     let average = |x: Neighbours<_, _, _>| (x.at((-1, 0)) + x.at((1, 0)) + x.at((0, -1)) + x.at((0, 1))) * 0.25;
///     stencil(Clamp, average, m)
/// });
/// let m = Array::matrix(2, 2, vec![4.0, 0.0, 0.0, 0.0])?;
/// assert_eq!(run_with(&Interpreter, &heat, &m)?.as_slice(), [2.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn stencil<Sh: Shape, T: Elt, B: Boundary<Sh, T>, R: IntoExp>(
    boundary: B,
    f: impl FnOnce(Neighbours<'_, Sh, T, B>) -> R,
    xs: Arr<Sh, T>,
) -> Arr<Sh, R::Elt> {
    let _site = attribute_to("stencil", Location::caller());
    generate(shape(xs), |ix| {
        let neighbours = Neighbours { xs, ix: ix.into_shape(), boundary: &boundary };
        users(|| f(neighbours))
    })
}
