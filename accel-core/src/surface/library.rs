//! Functions that programs of numbers need every day, as compositions. Functions of rows work along any axis: `mean(m.axis::<0>())`.

use super::graph::{attribute_to, users};
use super::{
    Acc, Exp, IntoExp, IntoShape, ToExp, backpermute, column, cond, constant, fold1, generate, imap, index_head,
    index_tail, lit, map, matmul, norm, pair, scanl1, shape, size, snoc, sum, sum_all, tail, transpose, zip_with_min,
};
use crate::array::{Array, Matrix, Scalar, Vector};
use crate::types::{Elt, Floating, Num, Primitive, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// The mean of each innermost row; NaN for an empty row. In NumPy, `mean(xs, axis=-1)`.
#[track_caller]
pub fn mean<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("mean", Location::caller());
    sum(xs) / index_head(shape(xs)).cast::<T>()
}

/// The mean of all elements; NaN without elements.
#[track_caller]
pub fn mean_all<Sh: Shape, T: Floating>(xs: Arr<Sh, T>) -> Acc<Scalar<T>> {
    let _site = attribute_to("mean_all", Location::caller());
    sum_all(xs) / size(xs).cast::<T>()
}

/// The variance of each innermost row, the mean of the squared distances from the mean; NaN for an empty row. In NumPy,
/// `var(xs, axis=-1)`; multiplied by n / (n - 1) it is the estimate of a sample.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let moments = afun(|xs: Acc<Vector<f64>>| (mean(xs), var(xs), std(xs)));
/// let (mean, var, std) = run_with(&Interpreter, &moments, &Array::vector(vec![1.0, 5.0]))?;
/// assert_eq!((mean.item(), var.item(), std.item()), (3.0, 4.0, 2.0));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn var<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("var", Location::caller());
    mean(map(|d| d * d, centered(xs)))
}

/// The standard deviation of each innermost row, the square root of [`var`]; NaN for an empty row. Its derivative is 0 where all
/// elements are equal. In NumPy, `std(xs, axis=-1)`.
#[track_caller]
pub fn std<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let _site = attribute_to("std", Location::caller());
    norm(centered(xs)) / index_head(shape(xs)).cast::<T>().sqrt()
}

/// Each element without the mean of its row.
fn centered<Sh: Shape, T: Floating>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    xs - column(mean(xs))
}

/// The elements of each innermost row without their mean, divided by the square root of their variance and `epsilon`:
/// `layer_norm(1e-5, x) * row(scale) + row(shift)` is a layer of PyTorch (`LayerNorm`), where 1e-5 is the usual number.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let normed = afun(|xs: Acc<Vector<f64>>| layer_norm(0.0, xs));
/// assert_eq!(run_with(&Interpreter, &normed, &Array::vector(vec![1.0, 5.0]))?.as_slice(), [-1.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn layer_norm<Sh: Shape, T: Floating>(epsilon: impl ToExp<T>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("layer_norm", Location::caller());
    let (epsilon, distances) = (epsilon.to_exp(), centered(xs));
    distances / column((mean(distances * distances) + epsilon).sqrt())
}

/// The covariances of the rows of a matrix, of which each one holds the observations of one variable: the products of the distances from
/// their means, added and divided by the number of observations less 1. In NumPy, `cov(m)`; for variables in columns,
/// `cov(transpose(m))`. NaN for fewer than two observations.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let covariances = afun(|m: Acc<Matrix<f64>>| cov(m));
/// let m = Array::matrix(2, 3, vec![1.0, 2.0, 3.0, 6.0, 4.0, 2.0])?;
/// assert_eq!(run_with(&Interpreter, &covariances, &m)?.as_slice(), [1.0, -2.0, -2.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn cov<T: Floating>(m: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    let _site = attribute_to("cov", Location::caller());
    let (distances, (_, n)) = (centered(m), m.shape());
    matmul(distances, transpose(distances)) / (n - 1).max(0).cast::<T>()
}

/// The sums of the elements of each innermost row up to each place. In NumPy, `cumsum(xs, axis=-1)`.
#[track_caller]
pub fn cumsum<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("cumsum", Location::caller());
    scanl1(|x, y| x + y, xs)
}

/// The products of the elements of each innermost row up to each place. In NumPy, `cumprod(xs, axis=-1)`.
#[track_caller]
pub fn cumprod<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("cumprod", Location::caller());
    scanl1(|x, y| x * y, xs)
}

/// The largest element of each innermost row up to each place. In NumPy, `maximum.accumulate(xs, axis=-1)`.
#[track_caller]
pub fn cummax<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("cummax", Location::caller());
    scanl1(|x, y| x.max(y), xs)
}

/// The smallest element of each innermost row up to each place. In NumPy, `minimum.accumulate(xs, axis=-1)`.
#[track_caller]
pub fn cummin<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("cummin", Location::caller());
    scanl1(|x, y| x.min(y), xs)
}

/// The position of the first largest element of each innermost row, or of the first NaN. An empty row is an error when the program
/// runs. In NumPy, `argmax(xs, axis=-1)`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|m: Acc<Matrix<f64>>| (argmax(m), argmin(m)));
/// let m = Array::matrix(2, 3, vec![1.0, 3.0, 3.0, 0.0, f64::NAN, 2.0])?;
/// let (largest, smallest) = run_with(&Interpreter, &program, &m)?;
/// assert_eq!((largest.as_slice(), smallest.as_slice()), (&[1, 1][..], &[0, 1][..]));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn argmax<Sh: Shape, T: Primitive>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, i64> {
    let _site = attribute_to("argmax", Location::caller());
    first_of_all(|x, y| x.gt(y), xs)
}

/// The position of the first smallest element of each innermost row, or of the first NaN. An empty row is an error when the program
/// runs. In NumPy, `argmin(xs, axis=-1)`.
#[track_caller]
pub fn argmin<Sh: Shape, T: Primitive>(xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, i64> {
    let _site = attribute_to("argmin", Location::caller());
    first_of_all(|x, y| x.lt(y), xs)
}

/// The position of the first element that none comes before, in each row. NaN comes before all numbers.
#[track_caller]
fn first_of_all<Sh: Shape, T: Primitive>(
    comes_before: impl FnOnce(Exp<T>, Exp<T>) -> Exp<bool>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Sh, i64> {
    let placed = imap(|ix: <Snoc<Sh> as Shape>::Index, x: Exp<T>| pair(x, index_head(ix.into_shape())), xs);
    let better = |(x, i): (Exp<T>, Exp<i64>), (y, j): (Exp<T>, Exp<i64>)| {
        let is_later = comes_before(y, x) | (y.ne(y) & x.eq(x));
        cond::<(T, i64)>(is_later, pair(y, j), pair(x, i))
    };
    map(|(_, i): (Exp<T>, Exp<i64>)| i, fold1(better, placed))
}

/// Rows of `n` numbers that are 0 except for a 1 at the position that an element names; a row of zeros for another number. In JAX,
/// `one_hot(ks, n)`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let classes = afun(|ks: Acc<Vector<i64>>| one_hot::<_, f32>(3, ks));
/// assert_eq!(run_with(&Interpreter, &classes, &Array::vector(vec![2, 0]))?.as_slice(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn one_hot<Sh: Shape, T: Num>(n: impl ToExp<i64>, ks: Arr<Sh, i64>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("one_hot", Location::caller());
    generate(snoc(shape(ks), n), |ix| {
        let ix = ix.into_shape();
        cond::<T>(ks.at(index_tail(ix)).eq(index_head(ix)), constant(T::one()), constant(T::zero()))
    })
}

/// `n` numbers with equal distances from `first` to `last`, both included; `first` alone if `n` is 1. In NumPy,
/// `linspace(first, last, n)`.
#[track_caller]
pub fn linspace<T: Floating>(first: impl ToExp<T>, last: impl ToExp<T>, n: impl ToExp<i64>) -> Acc<Vector<T>> {
    let _site = attribute_to("linspace", Location::caller());
    let (first, last, n) = (first.to_exp(), last.to_exp(), n.to_exp());
    let steps = (n - 1).max(1);
    generate(n, |i| rung(first, last, i, steps))
}

/// `n` numbers with equal quotients from 10 to the power `first` to 10 to the power `last`, both included. In NumPy,
/// `logspace(first, last, n)`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let rates = afun(|n: Acc<Scalar<i64>>| logspace(-2.0, 2.0, the(n)));
/// assert_eq!(run_with(&Interpreter, &rates, &Array::scalar(3))?.as_slice(), [0.01, 1.0, 100.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn logspace<T: Floating>(first: impl ToExp<T>, last: impl ToExp<T>, n: impl ToExp<i64>) -> Acc<Vector<T>> {
    let _site = attribute_to("logspace", Location::caller());
    map(|x: Exp<T>| lit::<T>(10.0).powf(x), linspace::<T>(first, last, n))
}

/// Number `i` of the numbers with equal distances from `first` to `last`, which is number `steps`, and exact.
pub(super) fn rung<T: Floating>(first: Exp<T>, last: Exp<T>, i: Exp<i64>, steps: Exp<i64>) -> Exp<T> {
    let (width, share) = (last - first, i.cast::<T>() / steps.cast::<T>());
    // The width may overflow, but a mean does not.
    let mean = |share: Exp<T>| first * (lit::<T>(1.0) - share) + last * share;
    let inner = cond::<T>(width.is_finite(), first + width * share, mean(share));
    cond::<T>(i.lt(steps), inner, last)
}

/// The products of all pairs of elements of two vectors, as a matrix with a row for each element of `xs`. In NumPy, `outer(xs, ys)`.
#[track_caller]
pub fn outer<T: Num>(xs: Acc<Vector<T>>, ys: Acc<Vector<T>>) -> Acc<Matrix<T>> {
    let _site = attribute_to("outer", Location::caller());
    generate((xs.len(), ys.len()), |(i, j)| xs.at(i) * ys.at(j))
}

/// `f` of all pairs of elements of two vectors, as a matrix with a row for each element of `xs`: [`outer`] with another operation than
/// the product. For Rust's operators, also `column(xs) - row(ys)`. In NumPy, `subtract.outer(xs, ys)` and the like.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let lengths = afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| outer_with(|x, y| x.hypot(y), xs, ys));
/// let (xs, ys) = (Array::vector(vec![0.0, 3.0]), Array::vector(vec![4.0]));
/// assert_eq!(run_with(&Interpreter, &lengths, (&xs, &ys))?.as_slice(), [4.0, 5.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn outer_with<A: Elt, B: Elt, R: IntoExp>(
    f: impl FnOnce(A::Exp, B::Exp) -> R,
    xs: Acc<Vector<A>>,
    ys: Acc<Vector<B>>,
) -> Acc<Matrix<R::Elt>> {
    let _site = attribute_to("outer_with", Location::caller());
    generate((xs.len(), ys.len()), |(i, j): (Exp<i64>, Exp<i64>)| {
        let (x, y) = (xs.at(i), ys.at(j));
        users(|| f(x, y))
    })
}

/// The differences between neighbours in each innermost row, one less than there are elements. In NumPy, `diff(xs, axis=-1)`.
#[track_caller]
pub fn diff<Sh: Shape, T: Num>(xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("diff", Location::caller());
    zip_with_min(|next, x| next - x, tail(xs), xs)
}

/// Each innermost row with all elements moved `k` places to the right, those at its end to its beginning. In NumPy,
/// `roll(xs, k, axis=-1)`.
#[track_caller]
pub fn roll<Sh: Shape, T: Elt>(k: impl ToExp<i64>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    let _site = attribute_to("roll", Location::caller());
    let sh = shape(xs);
    let n = index_head(sh);
    // A difference that wraps would be another place.
    let k = k.to_exp().rem_euclid(n.max(1));
    let source = |ix: <Snoc<Sh> as Shape>::Index| {
        let ix = ix.into_shape();
        snoc(index_tail(ix), (index_head(ix) - k).rem_euclid(n))
    };
    backpermute(sh, source, xs)
}
