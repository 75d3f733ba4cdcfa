//! Arrays put together, taken apart, turned round and repeated, along any axis.

use super::axes::HasAxis;
use super::element_counts::largest_extent;
use super::graph::attribute_to;
use super::index::{components, from_components};
use super::primitives::{agree, agree_shapes, bounded, failed};
use super::slicing::Position;
use super::{
    Acc, All, Exp, IntoShape, ToExp, backpermute, concat, cond, generate, index_head, replicate, replicate_inner,
    shape, slice_inner,
};
use crate::array::{Array, Matrix, Vector};
use crate::repr::Agreement;
use crate::types::{Elt, Shape, Snoc, Z};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;
type At = &'static Location<'static>;

/// Arrays of the same shape side by side along a new outermost dimension, as `stack(xs)` in NumPy. Arrays of different shapes are an
/// error when the program runs; none at all when it is built.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let both = afun(|v: Acc<Vector<i64>>| (stack([v, 10 * v]), stack_inner([v, 10 * v])));
/// let (rows, pairs) = run_with(&Interpreter, &both, &Array::vector(vec![1, 2]))?;
/// assert_eq!(rows.as_slice(), [1, 2, 10, 20]);
/// assert_eq!(pairs.as_slice(), [1, 10, 2, 20]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn stack<Sh: Shape, T: Elt>(xs: impl AsRef<[Arr<Sh, T>]>) -> Arr<Snoc<Sh>, T> {
    stacked(("stack", Location::caller()), 0, xs.as_ref())
}

/// Arrays of the same shape side by side along a new innermost dimension, as `stack(xs, axis=-1)` in NumPy; followed by
/// [`back_to_axis`](Acc::back_to_axis), along any other axis. See [`stack`].
#[track_caller]
pub fn stack_inner<Sh: Shape, T: Elt>(xs: impl AsRef<[Arr<Sh, T>]>) -> Arr<Snoc<Sh>, T> {
    stacked(("stack_inner", Location::caller()), Sh::RANK, xs.as_ref())
}

/// Arrays side by side along a new dimension of this number.
fn stacked<Sh: Shape, T: Elt>(site: (&'static str, At), dim: usize, xs: &[Arr<Sh, T>]) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to(site.0, site.1);
    let Some(first) = xs.first() else { return failed(site, "at least one array", "none") };
    let others = xs[1..].iter().map(|x| agree(site, Agreement::All, *first, *x));
    let xs: Vec<_> = std::iter::once(*first).chain(others).collect();
    let mut extents = components(shape(*first));
    extents.insert(dim, (xs.len() as i64).to_exp());
    generate(from_components::<Snoc<Sh>>(&extents), |ix| {
        let mut ix = components(ix.into_shape());
        let k = ix.remove(dim);
        chosen(k, 0, &xs, from_components(&ix))
    })
}

/// The element of the array number `k`, of which the first one here has the number `from`.
fn chosen<Sh: Shape, T: Elt>(k: Exp<i64>, from: i64, xs: &[Arr<Sh, T>], ix: Exp<Sh>) -> Exp<T> {
    if let [x] = xs {
        return x.at(ix).to_exp();
    }
    let (low, high) = xs.split_at(xs.len() / 2);
    let middle = from + low.len() as i64;
    cond::<T>(k.lt(middle), chosen(k, from, low, ix), chosen(k, middle, high, ix))
}

impl<Sh: Shape, T: Elt> Acc<Array<Sh, T>> {
    /// The array with the opposite order along axis `K`, as `flip(xs, axis=K)` in NumPy.
    #[track_caller]
    pub fn flip<const K: usize>(self) -> Acc<Array<Sh, T>>
    where
        Sh: HasAxis<K>,
    {
        let _site = attribute_to("flip", Location::caller());
        let n = components(shape(self))[K];
        along::<K, _, _>(n, |i| n - 1 - i, self)
    }

    /// `N` parts of equal extent along axis `K`, as `split(xs, N, axis=K)` in NumPy: `let [q, k, v] = m.split::<1, 3>()`. An extent that
    /// is not a multiple of `N` is an error when the program runs.
    ///
    /// ```
    /// use accel_core::interp::Interpreter;
    /// use accel_core::prelude::*;
    ///
    /// let halves = afun(|m: Acc<Matrix<i64>>| {
    ///     let [left, right] = m.split::<1, 2>();
    ///     right.concat::<0>(left)
    /// });
    /// let m = Array::matrix(1, 4, vec![1, 2, 3, 4])?;
    /// assert_eq!(run_with(&Interpreter, &halves, &m)?.as_slice(), [3, 4, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn split<const K: usize, const N: usize>(self) -> [Acc<Array<Sh, T>>; N]
    where
        Sh: HasAxis<K>,
    {
        let site = ("split", Location::caller());
        let _site = attribute_to(site.0, site.1);
        let (n, parts) = (components(shape(self))[K], N as i64);
        let extent = n / parts.max(1);
        let xs = agree_shapes(site, Agreement::Size, (parts, extent).into_shape(), n.into_shape(), self);
        std::array::from_fn(|k| along::<K, _, _>(extent, |i| i + extent * k as i64, xs))
    }

    /// The parts before and from the index `k` on along axis `K`, as `split(xs, [k], axis=K)` in NumPy. An `i64` below 0 counts from the
    /// end. An index outside of the array is an error when the program runs.
    #[track_caller]
    pub fn split_at<const K: usize>(self, k: impl Position) -> (Acc<Array<Sh, T>>, Acc<Array<Sh, T>>)
    where
        Sh: HasAxis<K>,
    {
        let _site = attribute_to("split_at", Location::caller());
        let n = components(shape(self))[K];
        let k = k.within(n);
        (along::<K, _, _>(k, |i| i, self), along::<K, _, _>(n - k, |i| i + k, self))
    }

    /// The array with a dimension of extent 1 as axis `K`, as `expand_dims(xs, K)` in NumPy.
    #[track_caller]
    pub fn expand_dims<const K: usize>(self) -> Acc<Array<Snoc<Sh>, T>>
    where
        Snoc<Sh>: HasAxis<K>,
    {
        let _site = attribute_to("expand_dims", Location::caller());
        replicate_inner(1, self).back_to_axis::<K>()
    }
}

impl<Sh: Shape, T: Elt> Acc<Array<Snoc<Sh>, T>> {
    /// The array with `other` behind it along axis `K`, as `concatenate([xs, other], axis=K)` in NumPy. Arrays that differ in another extent
    /// are an error when the program runs. Along the innermost axis, also `concat(xs, other)`.
    #[track_caller]
    pub fn concat<const K: usize>(self, other: Acc<Array<Snoc<Sh>, T>>) -> Acc<Array<Snoc<Sh>, T>>
    where
        Snoc<Sh>: HasAxis<K>,
    {
        let _site = attribute_to("concat", Location::caller());
        concat(self.axis::<K>(), other.axis::<K>()).back_to_axis::<K>()
    }

    /// The array without axis `K`, whose extent has to be 1, as `squeeze(xs, axis=K)` in NumPy. Another extent is an error when the program
    /// runs.
    #[track_caller]
    pub fn squeeze<const K: usize>(self) -> Acc<Array<Sh, T>>
    where
        Snoc<Sh>: HasAxis<K>,
    {
        let site = ("squeeze", Location::caller());
        let _site = attribute_to(site.0, site.1);
        let xs = self.axis::<K>();
        let bounds = |_| (1i64.to_exp(), 1i64.to_exp());
        slice_inner(0, bounded::<Snoc<Z>, _, _>(site, &[index_head(shape(xs))], bounds, xs))
    }
}

/// `n` elements along axis `K`, from the places that `from` computes.
#[track_caller]
fn along<const K: usize, Sh: Shape + HasAxis<K>, T: Elt>(
    n: Exp<i64>,
    from: impl FnOnce(Exp<i64>) -> Exp<i64>,
    xs: Arr<Sh, T>,
) -> Arr<Sh, T> {
    let mut extents = components(shape(xs));
    extents[K] = n;
    let source = |ix: Sh::Index| {
        let mut ix = components(ix.into_shape());
        ix[K] = from(ix[K]);
        from_components::<Sh>(&ix)
    };
    backpermute(from_components::<Sh>(&extents), source, xs)
}

/// The array repeated as often as `times` says, along each dimension: `tile((2, 3), m)` is `tile(m, (2, 3))` in NumPy. A negative number
/// is an error when the program runs.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let twice = afun(|m: Acc<Matrix<i64>>| tile((1, 2), m));
/// let m = Array::matrix(2, 2, vec![1, 2, 3, 4])?;
/// assert_eq!(run_with(&Interpreter, &twice, &m)?.as_slice(), [1, 2, 1, 2, 3, 4, 3, 4]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn tile<S: IntoShape, T: Elt>(times: S, xs: Arr<S::Sh, T>) -> Arr<S::Sh, T> {
    let site = ("tile", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let (times, extents) = (components(times.into_shape()), components(shape(xs)));
    let bounds = |k: usize| (0i64.to_exp(), largest_extent() / extents[k].max(1));
    let xs = bounded::<S::Sh, _, _>(site, &times, bounds, xs);
    let sh: Vec<_> = times.iter().zip(&extents).map(|(k, n)| *k * *n).collect();
    let source = |ix: <S::Sh as Shape>::Index| {
        let places: Vec<_> = components(ix.into_shape()).into_iter().zip(&extents).map(|(i, n)| i % *n).collect();
        from_components::<S::Sh>(&places)
    };
    backpermute(from_components::<S::Sh>(&sh), source, xs)
}

/// The coordinates of all points of a grid: a matrix in which each row is `xs`, and one in which each column is `ys`, both with
/// `ys.len()` rows, as `meshgrid(xs, ys)` in NumPy.
#[track_caller]
pub fn meshgrid<A: Elt, B: Elt>(xs: Acc<Vector<A>>, ys: Acc<Vector<B>>) -> (Acc<Matrix<A>>, Acc<Matrix<B>>) {
    let _site = attribute_to("meshgrid", Location::caller());
    (replicate((ys.len(), All), xs), replicate((All, xs.len()), ys))
}
