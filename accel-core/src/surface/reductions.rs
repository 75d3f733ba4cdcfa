//! Folds and scans, written in terms of the primitive operations.

use super::graph::{attribute_to, users};
use super::primitives::agree;
use super::{
    Acc, All, ToExp, constant, fold, fold1, index_head, index_tail, init, replicate, reshape, scanl, scanr, shape,
    size, size_of, slice_inner, snoc, tail, transpose, zip_with_min,
};
use crate::array::{Array, Matrix, Scalar, Vector};
use crate::repr::Agreement;
use crate::types::{Elt, Num, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// The same elements, row by row, as a vector.
#[track_caller]
pub fn flatten<Sh: Shape, T: Elt>(xs: Arr<Sh, T>) -> Acc<Vector<T>> {
    let _site = attribute_to("flatten", Location::caller());
    reshape(size(xs), xs)
}

/// Folds all elements with the associative function `f` and the initial value `z`.
#[track_caller]
pub fn fold_all<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    xs: Arr<Sh, T>,
) -> Acc<Scalar<T>> {
    let _site = attribute_to("fold_all", Location::caller());
    fold(|a, b| users(|| f(a, b)), z, flatten(xs))
}

/// Folds all elements with the associative function `f`. An array without elements is an error when the program runs.
#[track_caller]
pub fn fold1_all<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    xs: Arr<Sh, T>,
) -> Acc<Scalar<T>> {
    let _site = attribute_to("fold1_all", Location::caller());
    fold1(|a, b| users(|| f(a, b)), flatten(xs))
}

/// The sum of each innermost row; 0 for an empty row.
#[track_caller]
pub fn sum<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("sum", Location::caller());
    fold(|a, b| a + b, constant(T::zero()), xs)
}

/// The product of each innermost row; 1 for an empty row.
#[track_caller]
pub fn product<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("product", Location::caller());
    fold(|a, b| a * b, constant(T::one()), xs)
}

/// The largest element of each innermost row. An empty row is an error when the program runs.
#[track_caller]
pub fn maximum<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("maximum", Location::caller());
    fold1(|a, b| a.max(b), xs)
}

/// The smallest element of each innermost row. An empty row is an error when the program runs.
#[track_caller]
pub fn minimum<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("minimum", Location::caller());
    fold1(|a, b| a.min(b), xs)
}

/// Whether all elements of each innermost row are true; `true` for an empty row.
#[track_caller]
pub fn all<Sh: Shape>(xs: Arr<Snoc<Sh>, bool>) -> Arr<Sh, bool> {
    let _site = attribute_to("all", Location::caller());
    fold(|a, b| a & b, true, xs)
}

/// Whether an element of each innermost row is true; `false` for an empty row.
#[track_caller]
pub fn any<Sh: Shape>(xs: Arr<Snoc<Sh>, bool>) -> Arr<Sh, bool> {
    let _site = attribute_to("any", Location::caller());
    fold(|a, b| a | b, false, xs)
}

/// The sum of all elements.
#[track_caller]
pub fn sum_all<Sh: Shape, T: Num>(xs: Arr<Sh, T>) -> Acc<Scalar<T>> {
    let _site = attribute_to("sum_all", Location::caller());
    sum(flatten(xs))
}

/// The product of all elements.
#[track_caller]
pub fn product_all<Sh: Shape, T: Num>(xs: Arr<Sh, T>) -> Acc<Scalar<T>> {
    let _site = attribute_to("product_all", Location::caller());
    product(flatten(xs))
}

/// The largest of all elements. An array without elements is an error when the program runs.
#[track_caller]
pub fn maximum_all<Sh: Shape, T: Num>(xs: Arr<Sh, T>) -> Acc<Scalar<T>> {
    let _site = attribute_to("maximum_all", Location::caller());
    maximum(flatten(xs))
}

/// The smallest of all elements. An array without elements is an error when the program runs.
#[track_caller]
pub fn minimum_all<Sh: Shape, T: Num>(xs: Arr<Sh, T>) -> Acc<Scalar<T>> {
    let _site = attribute_to("minimum_all", Location::caller());
    minimum(flatten(xs))
}

/// For each element of an innermost row, the partial result of [`scanl`] before it, and the total: `([z, z·x0, z·x0·x1,
/// …], total)`. The first array has the shape of `xs`. Accelerate calls it `scanl'`.
#[track_caller]
pub fn scanl_ex<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    xs: Arr<Snoc<Sh>, T>,
) -> (Arr<Snoc<Sh>, T>, Arr<Sh, T>) {
    let _site = attribute_to("scanl_ex", Location::caller());
    let all = scanl(|a, b| users(|| f(a, b)), z, xs);
    (init(all), slice_inner(index_head(shape(xs)), all))
}

/// For each element of an innermost row, the partial result of [`scanr`] after it, and the total. The first array has
/// the shape of `xs`. Accelerate calls it `scanr'`.
#[track_caller]
pub fn scanr_ex<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    xs: Arr<Snoc<Sh>, T>,
) -> (Arr<Snoc<Sh>, T>, Arr<Sh, T>) {
    let _site = attribute_to("scanr_ex", Location::caller());
    let all = scanr(|a, b| users(|| f(a, b)), z, xs);
    (tail(all), slice_inner(0, all))
}

/// The inner product of two vectors. Vectors of different lengths are an error when the program runs.
#[track_caller]
pub fn dot<T: Num>(xs: Acc<Vector<T>>, ys: Acc<Vector<T>>) -> Acc<Scalar<T>> {
    let site = ("dot", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let ys = agree(site, Agreement::All, xs, ys);
    sum(zip_with_min(|x, y| x * y, xs, ys))
}

/// The product of an n×m matrix and a vector of length m. A vector of another length is an error when the program runs.
#[track_caller]
pub fn matvec<T: Num>(m: Acc<Matrix<T>>, v: Acc<Vector<T>>) -> Acc<Vector<T>> {
    let site = ("matvec", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let v = agree(site, Agreement::Inner, m, v);
    let (rows, _) = m.shape();
    sum(zip_with_min(|x, y| x * y, m, replicate((rows, All), v)))
}

/// The product of an n×m matrix and an m×p matrix; with leading dimensions, of each matrix of `a` and `b`, as `a @ b` in NumPy. Different
/// inner extents are an error when the program runs. If `b` has leading dimensions as well, see [`bmm`](super::bmm).
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let layer = afun(|x: Acc<Array<Dim3, f64>>, w: Acc<Matrix<f64>>| matmul(x, w));
/// let (x, w) = (Array::from_vec([2, 1, 2], vec![1.0, 2.0, 3.0, 4.0])?, Array::matrix(2, 1, vec![10.0, 1.0])?);
/// assert_eq!(run_with(&Interpreter, &layer, (&x, &w))?.as_slice(), [12.0, 34.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn matmul<Sh: Shape, T: Num>(a: Arr<Snoc<Snoc<Sh>>, T>, b: Acc<Matrix<T>>) -> Arr<Snoc<Snoc<Sh>>, T> {
    let site = ("matmul", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let b = agree(site, Agreement::Inner, a, b);
    if Sh::RANK == 0 {
        return Acc::new(product_of(Acc::new(a.handle()), b).handle());
    }
    // One matrix with the rows of all of them.
    let (sh, (_, p)) = (shape(a), b.shape());
    let rows = reshape((size_of(index_tail(sh)), index_head(sh)), a);
    reshape(snoc(index_tail(sh), p), product_of(rows, b))
}

/// The product of two matrices that agree.
#[track_caller]
pub(super) fn product_of<T: Num>(a: Acc<Matrix<T>>, b: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    let ((n, _), (_, p)) = (a.shape(), b.shape());
    let (a, b) = (replicate((All, p, All), a), replicate((n, All, All), transpose(b)));
    sum(zip_with_min(|x, y| x * y, a, b))
}
