//! Functions that make, pair and rearrange arrays, written in terms of the primitive operations.

use super::graph::{attribute_to, users};
use super::index::{components, from_components, index_head, index_tail, snoc};
use super::nodes::fst;
use super::primitives::agree;
use super::{
    Acc, Exp, IntoExp, IntoShape, ToExp, backpermute, cond, generate, intersect, map, permute, shape, zip_with,
    zip_with_min,
};
use crate::array::{Array, Matrix, Vector};
use crate::repr::Agreement;
use crate::types::{Elt, Num, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// An array in which all elements are `x`.
#[track_caller]
pub fn fill<S: IntoShape, X: IntoExp>(shape: S, x: X) -> Arr<S::Sh, X::Elt> {
    let _site = attribute_to("fill", Location::caller());
    let x = x.into_exp();
    generate(shape, |_| x)
}

/// The vector 0, 1, …, `n` - 1.
#[track_caller]
pub fn iota(n: impl ToExp<i64>) -> Acc<Vector<i64>> {
    let _site = attribute_to("iota", Location::caller());
    generate(n.to_exp(), |i| i)
}

/// The array of shape `shape` that contains, row by row, `start`, `start` + 1, and so on.
#[track_caller]
pub fn enum_from_n<S: IntoShape, T: Num>(shape: S, start: impl ToExp<T>) -> Arr<S::Sh, T> {
    let _site = attribute_to("enum_from_n", Location::caller());
    let (sh, start) = (shape.into_shape(), start.to_exp());
    let extents = components(sh);
    generate(sh, |ix| {
        let ix = components(ix.into_shape());
        let place = ix.into_iter().zip(extents).reduce(|(p, _), (i, n)| (p * n + i, n));
        let place = place.map_or_else(|| 0i64.to_exp(), |(p, _)| p);
        place.cast::<T>() + start
    })
}

/// Applies `f` to the index and the element.
#[track_caller]
pub fn imap<Sh: Shape, T: Elt, R: IntoExp>(f: impl FnOnce(Sh::Index, T::Exp) -> R, xs: Arr<Sh, T>) -> Arr<Sh, R::Elt> {
    let _site = attribute_to("imap", Location::caller());
    let indices: Arr<Sh, Sh> = generate(shape(xs), |ix| ix.into_shape());
    zip_with_min(
        |ix: Exp<Sh>, x| {
            let ix = ix.index();
            users(|| f(ix, x))
        },
        indices,
        xs,
    )
}

/// Pairs each element with its index. In a closure the index has type `Exp<Sh>`; `index()` splits it into components.
#[track_caller]
pub fn indexed<Sh: Shape, T: Elt>(xs: Arr<Sh, T>) -> Arr<Sh, (Sh, T)> {
    let _site = attribute_to("indexed", Location::caller());
    let indices: Arr<Sh, Sh> = generate(shape(xs), |ix| ix.into_shape());
    zip_min(indices, xs)
}

/// Applies `f` to the elements of three arrays at the same index. Arrays of different shapes are an error when the
/// program runs; [`zip_with3_min`] cuts them off.
#[track_caller]
pub fn zip_with3<Sh: Shape, A: Elt, B: Elt, C: Elt, R: IntoExp>(
    f: impl FnOnce(A::Exp, B::Exp, C::Exp) -> R,
    xs: Arr<Sh, A>,
    ys: Arr<Sh, B>,
    zs: Arr<Sh, C>,
) -> Arr<Sh, R::Elt> {
    let _site = attribute_to("zip_with3", Location::caller());
    zip_with(|(x, y), z| users(|| f(x, y, z)), zip(xs, ys), zs)
}

/// Applies `f` to the elements of three arrays at the same index. The shape of the result is the intersection.
#[track_caller]
pub fn zip_with3_min<Sh: Shape, A: Elt, B: Elt, C: Elt, R: IntoExp>(
    f: impl FnOnce(A::Exp, B::Exp, C::Exp) -> R,
    xs: Arr<Sh, A>,
    ys: Arr<Sh, B>,
    zs: Arr<Sh, C>,
) -> Arr<Sh, R::Elt> {
    let _site = attribute_to("zip_with3_min", Location::caller());
    zip_with_min(|(x, y), z| users(|| f(x, y, z)), zip_min(xs, ys), zs)
}

/// The pairs of elements at the same index. Arrays of different shapes are an error when the program runs; [`zip_min`]
/// cuts them off.
#[track_caller]
pub fn zip<Sh: Shape, A: Elt, B: Elt>(xs: Arr<Sh, A>, ys: Arr<Sh, B>) -> Arr<Sh, (A, B)> {
    let _site = attribute_to("zip", Location::caller());
    zip_with(|x, y| (x, y), xs, ys)
}

/// The pairs of elements at the same index. The shape of the result is the intersection.
#[track_caller]
pub fn zip_min<Sh: Shape, A: Elt, B: Elt>(xs: Arr<Sh, A>, ys: Arr<Sh, B>) -> Arr<Sh, (A, B)> {
    let _site = attribute_to("zip_min", Location::caller());
    zip_with_min(|x, y| (x, y), xs, ys)
}

/// The triples of elements at the same index. Arrays of different shapes are an error when the program runs; [`zip3_min`] cuts
/// them off.
#[track_caller]
pub fn zip3<Sh: Shape, A: Elt, B: Elt, C: Elt>(xs: Arr<Sh, A>, ys: Arr<Sh, B>, zs: Arr<Sh, C>) -> Arr<Sh, (A, B, C)> {
    let _site = attribute_to("zip3", Location::caller());
    zip_with3(|x, y, z| (x, y, z), xs, ys, zs)
}

/// The triples of elements at the same index. The shape of the result is the intersection.
#[track_caller]
pub fn zip3_min<Sh: Shape, A: Elt, B: Elt, C: Elt>(
    xs: Arr<Sh, A>,
    ys: Arr<Sh, B>,
    zs: Arr<Sh, C>,
) -> Arr<Sh, (A, B, C)> {
    let _site = attribute_to("zip3_min", Location::caller());
    zip_with3_min(|x, y, z| (x, y, z), xs, ys, zs)
}

/// The components of an array of pairs.
#[track_caller]
pub fn unzip<Sh: Shape, A: Elt, B: Elt>(xys: Arr<Sh, (A, B)>) -> (Arr<Sh, A>, Arr<Sh, B>) {
    let _site = attribute_to("unzip", Location::caller());
    (map(|(x, _)| x, xys), map(|(_, y)| y, xys))
}

/// The components of an array of triples.
#[track_caller]
pub fn unzip3<Sh: Shape, A: Elt, B: Elt, C: Elt>(xyzs: Arr<Sh, (A, B, C)>) -> (Arr<Sh, A>, Arr<Sh, B>, Arr<Sh, C>) {
    let _site = attribute_to("unzip3", Location::caller());
    (map(|(x, _, _)| x, xyzs), map(|(_, y, _)| y, xyzs), map(|(_, _, z)| z, xyzs))
}

/// Exchanges rows and columns.
#[track_caller]
pub fn transpose<T: Elt>(m: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    let _site = attribute_to("transpose", Location::caller());
    let (rows, columns) = m.shape();
    backpermute((columns, rows), |(j, i)| (i, j), m)
}

/// The rows of `xs` at the indices `from`: of a vector its elements, of a matrix its rows, as `xs[from]` in NumPy. The result has the
/// dimensions of `from`, and then those of a row. An index out of bounds is an error when the program runs. Of matrices with equal numbers of
/// rows, [`take_along`] takes elements of each row.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let embedding = afun(|words: Acc<Vector<i64>>, table: Acc<Matrix<f64>>| gather(words, table));
/// let table = Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
/// let rows = run_with(&Interpreter, &embedding, (&Array::vector(vec![1, 0, 1]), &table))?;
/// assert_eq!(rows.as_slice(), [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn gather<Ix: Shape, Sh: Shape, T: Elt>(from: Arr<Ix, i64>, xs: Arr<Snoc<Sh>, T>) -> Arr<Sh::After<Ix>, T> {
    let _site = attribute_to("gather", Location::caller());
    let row = from_components::<Sh>(&components(shape(xs))[1..]);
    backpermute(
        Sh::after(shape(from), row),
        |ix| {
            let ix = ix.into_shape();
            let (inner, outer) = (components(ix), (0..Sh::RANK).fold(ix.handle(), |ix, _| fst(ix)));
            let mut place = vec![from.at(Exp::<Ix>::new(outer))];
            place.extend(&inner[Ix::RANK..]);
            from_components::<Snoc<Sh>>(&place)
        },
        xs,
    )
}

/// In each innermost row, the elements of `xs` at the positions `from` in the same row, as `take_along_axis(xs, from, axis=-1)` in
/// NumPy: `take_along(argsort(xs), xs)` is `sort(xs)`. A position out of bounds is an error when the program runs, and so are arrays that
/// differ in another extent than the innermost one.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let last = afun(|from: Acc<Matrix<i64>>, m: Acc<Matrix<f64>>| take_along(from, m));
/// let (from, m) = (Array::matrix(2, 1, vec![1, 0])?, Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0])?);
/// assert_eq!(run_with(&Interpreter, &last, (&from, &m))?.as_slice(), [2.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn take_along<Sh: Shape, T: Elt>(from: Arr<Snoc<Sh>, i64>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let site = ("take_along", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let xs = agree(site, Agreement::Outer, from, xs);
    backpermute(
        shape(from),
        |ix| {
            let ix = ix.into_shape();
            snoc(index_tail(ix), from.at(ix))
        },
        xs,
    )
}

/// A copy of `defaults` in which `xs[i]` replaces element `to[i]`. If several elements have the same target, the last one
/// of them is stored. An index out of bounds is an error when the program runs, and so are vectors `to` and `xs` of
/// different lengths.
#[track_caller]
pub fn scatter<T: Elt>(to: Acc<Vector<i64>>, defaults: Acc<Vector<T>>, xs: Acc<Vector<T>>) -> Acc<Vector<T>> {
    let site = ("scatter", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let xs = agree(site, Agreement::All, to, xs);
    permute(|new, _| new, defaults, |i: Exp<i64>| (true, to.at(i)), xs)
}

/// Concatenates the innermost rows of two arrays. If the arrays differ in another extent than the innermost one, this
/// is an error when the program runs.
#[track_caller]
pub fn concat<Sh: Shape, T: Elt>(xs: Arr<Snoc<Sh>, T>, ys: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let site = ("concat", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let ys = agree(site, Agreement::Outer, xs, ys);
    let (a, b) = (shape(xs), shape(ys));
    let (n, m) = (index_head(a), index_head(b));
    let outer = intersect(index_tail(a), index_tail(b));
    generate(snoc(outer, n + m), |ix| {
        let ix = ix.into_shape();
        let (outer, i) = (index_tail(ix), index_head(ix));
        cond::<T>(i.lt(n), xs.at(ix), ys.at(snoc(outer, i - n)))
    })
}

/// From each innermost row, `n` elements starting at `first`.
#[track_caller]
fn part<Sh: Shape, T: Elt>(first: Option<Exp<i64>>, n: Exp<i64>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    backpermute(
        snoc(index_tail(shape(xs)), n),
        |ix| {
            let ix = ix.into_shape();
            match first {
                Some(first) => snoc(index_tail(ix), index_head(ix) + first),
                None => ix,
            }
        },
        xs,
    )
}

/// The first `n` elements of each innermost row; all elements if there are fewer.
#[track_caller]
pub fn take<Sh: Shape, T: Elt>(n: impl ToExp<i64>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("take", Location::caller());
    part(None, n.to_exp().max(0).min(index_head(shape(xs))), xs)
}

/// Each innermost row without its first `n` elements.
#[track_caller]
pub fn skip<Sh: Shape, T: Elt>(n: impl ToExp<i64>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("skip", Location::caller());
    let extent = index_head(shape(xs));
    let n = n.to_exp().max(0).min(extent);
    part(Some(n), extent - n, xs)
}

/// Each innermost row without its last element; an empty row stays empty.
#[track_caller]
pub fn init<Sh: Shape, T: Elt>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("init", Location::caller());
    part(None, (index_head(shape(xs)) - 1).max(0), xs)
}

/// Each innermost row without its first element; an empty row stays empty.
#[track_caller]
pub fn tail<Sh: Shape, T: Elt>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("tail", Location::caller());
    part(Some(1i64.to_exp()), (index_head(shape(xs)) - 1).max(0), xs)
}

/// Reverses each innermost row.
#[track_caller]
pub fn reverse<Sh: Shape, T: Elt>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("reverse", Location::caller());
    let sh = shape(xs);
    let last = index_head(sh) - 1;
    backpermute(
        sh,
        |ix| {
            let ix = ix.into_shape();
            snoc(index_tail(ix), last - index_head(ix))
        },
        xs,
    )
}
