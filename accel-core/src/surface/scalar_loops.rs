//! Loops in scalar code with a known number of steps, in terms of `while_`.

use super::acc::shape;
use super::exp::{constant, while_};
use super::graph::{attribute_to, users};
use super::handles::{Acc, Exp};
use super::index::{index_head, snoc};
use crate::array::Array;
use crate::types::elt::{Elt, IntoExp, ToExp};
use crate::types::shape::IntoShape;
use crate::types::{Shape, Snoc};
use std::panic::Location;

/// `f`, applied `n` times to `init`. If `n` is negative, this is `init`. Literals in `init` need a suffix or `f` a type, as
/// in [`while_`].
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let roots = afun(|xs: Acc<Vector<f64>>| map(|x| iterate(20, |y: Exp<f64>| (y + x / y) * 0.5, x), xs));
/// let ys = run_with(&Interpreter, &roots, &Array::vector(vec![4.0, 9.0])).unwrap();
/// assert_eq!(ys.to_vec(), [2.0, 3.0]);
/// ```
#[track_caller]
pub fn iterate<T: Elt<Exp = S>, S: IntoExp<Elt = T>, R: ToExp<T>>(
    n: impl ToExp<i64>,
    f: impl FnOnce(S) -> R,
    init: impl ToExp<T>,
) -> S {
    let _site = attribute_to("iterate", Location::caller());
    counted(n.to_exp(), |_, x| f(x), init.to_exp())
}

/// `f`, applied `n` times to the number of the step, from 0 on, and to `init`. If `n` is negative, this is `init`. Literals in `init` need a
/// suffix or `f` a type, as in [`while_`].
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // 1 + x + x²/2 + x³/6 + .., from the last term on.
/// let step = |x: Exp<f64>| move |k: Exp<i64>, y: Exp<f64>| 1.0 + y * x / (20 - k).cast::<f64>();
/// let exponentials = afun(|xs: Acc<Vector<f64>>| map(|x| iterate_indexed(20, step(x), 1.0), xs));
/// let ys = run_with(&Interpreter, &exponentials, &Array::vector(vec![0.0, 1.0]))?;
/// assert_eq!(ys.to_vec(), [1.0, std::f64::consts::E]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn iterate_indexed<T: Elt<Exp = S>, S: IntoExp<Elt = T>, R: ToExp<T>>(
    n: impl ToExp<i64>,
    f: impl FnOnce(Exp<i64>, S) -> R,
    init: impl ToExp<T>,
) -> S {
    let _site = attribute_to("iterate_indexed", Location::caller());
    counted(n.to_exp(), |k, x| users(|| f(k, x)), init.to_exp())
}

/// The elements of a row, combined one after the other: `f(.. f(f(z, x0), x1) ..)`. `row` is the index of a row of `xs`
/// along the innermost dimension; a row outside of `xs` is an error when the program runs. Unlike a fold, this is a loop
/// in scalar code: `f` need not be associative, and its result can have another type than the elements. (In Haskell's
/// Accelerate, this is `sfoldl`.)
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // Polynomials, whose coefficients are the rows of a matrix.
/// let values = afun(|a: Acc<Matrix<f64>>, xs: Acc<Vector<f64>>| {
///     imap(|i, x: Exp<f64>| sfoldl(|y: Exp<f64>, c| y * x + c, 0.0, i, a), xs)
/// });
/// let a = Array::matrix(2, 3, vec![1.0, 2.0, 3.0, 0.0, 1.0, 1.0]).unwrap();
/// let ys = run_with(&Interpreter, &values, (&a, &Array::vector(vec![2.0, 5.0]))).unwrap();
/// assert_eq!(ys.to_vec(), [11.0, 6.0]);
/// ```
#[track_caller]
pub fn sfoldl<Sh: Shape, T: Elt, U: Elt<Exp = S>, S: IntoExp<Elt = U>, R: ToExp<U>>(
    f: impl FnOnce(S, T::Exp) -> R,
    z: impl ToExp<U>,
    row: impl IntoShape<Sh = Sh>,
    xs: Acc<Array<Snoc<Sh>, T>>,
) -> S {
    let _site = attribute_to("sfoldl", Location::caller());
    let (row, n) = (row.into_shape(), index_head(shape(xs)));
    counted(n, |k, y| f(y, xs.at(snoc(row, k))), z.to_exp())
}

/// A loop over the numbers from 0 to `n - 1`.
#[track_caller]
pub(super) fn counted<T: Elt, R: ToExp<T>>(n: Exp<i64>, f: impl FnOnce(Exp<i64>, T::Exp) -> R, init: Exp<T>) -> T::Exp {
    let step = |(k, x): (Exp<i64>, T::Exp)| (k + 1, f(k, x));
    while_::<(i64, T), _, _, _>(|(k, _)| k.lt(n), step, (constant(0i64), init)).1
}
