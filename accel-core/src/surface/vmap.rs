//! Array functions that are applied to each row.

use super::control::{ListOf, map_accum};
use super::derive_support::retype_acc;
use super::graph::Dir;
use super::{Acc, stage};
use crate::afun::{Afun, call};
use crate::types::arrays::{Arrays, IntoAcc, Listed, Rows};
use std::panic::Location;

/// Applies `f` to each row of `xs`, and lists the results.
///
/// The rows are those along the outermost dimension: the elements of a vector (as arrays without dimensions), the rows of a
/// matrix, and for a tuple of arrays a tuple of rows. Row `k` of the result is `f` of row `k`; for a tuple of results, the result is a
/// tuple of arrays. All rows share the arrays of the surrounding program that `f` uses.
///
/// Arrays of a tuple with different numbers of rows are an error when the program runs, and so are results of different shapes. If there
/// is no row, the result has none either; its other extents are 0 if they depend on rows.
///
/// Operations on a row become operations on all rows at once. Where that is impossible, because extents or operators depend on the
/// row, or a branch over arrays with dimensions, the rows are computed one after the other: `ACCEL_DUMP=batch` tells where. (In JAX, `jax.vmap(f)(xs)`; arrays that `in_axes=None` excepts there are
/// those that the closure captures here.)
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // Each row of `xs` multiplied by one matrix, and with the row's own factor.
/// let program = afun(|m: Acc<Matrix<f64>>, xs: Acc<Matrix<f64>>, factors: Acc<Vector<f64>>| {
///     vmap(|(x, factor)| map(|y| y * the(factor), matvec(m, x)), (xs, factors))
/// });
/// let m = Array::matrix(2, 2, vec![0.0, 1.0, 1.0, 0.0])?;
/// let xs = Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
/// let ys = run_with(&Interpreter, &program, (&m, &xs, &Array::vector(vec![1.0, 10.0])))?;
/// assert_eq!(ys.as_slice(), [2.0, 1.0, 40.0, 30.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn vmap<X: Rows, Y: IntoAcc<Arrays: Listed>>(
    f: impl FnOnce(<X::Row as Arrays>::Acc) -> Y,
    xs: impl IntoAcc<Arrays = X>,
) -> ListOf<Y> {
    let step = |(), x| ((), f(x));
    map_accum(("vmap", Location::caller()), Dir::Left, step, ().into_acc(), xs.into_acc()).1
}

/// The type of the batches of arguments of a program: lists of arguments, whose rows are arguments.
type Batch<A> = <A as Listed>::List;

impl<A, R> Afun<A, R>
where
    A: Listed<List: Rows<Row: Arrays<Repr = A::Repr>>>,
    R: Listed,
{
    /// The program for a batch: it applies this program to each row of its arguments, as [`vmap`] does. Arguments that all rows share
    /// are captured instead: `vmap(|x| call(&prog, (w, x)), xs)`.
    ///
    /// ```
    /// use accel_core::interp::Interpreter;
    /// use accel_core::prelude::*;
    ///
    /// let products = afun(|x: Acc<Vector<f64>>, y: Acc<Vector<f64>>| dot(x, y)).vmap();
    /// let (xs, ys) = (Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0])?, Array::matrix(2, 2, vec![5.0, 6.0, 7.0, 8.0])?);
    /// assert_eq!(run_with(&Interpreter, &products, (&xs, &ys))?.as_slice(), [17.0, 53.0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of this program; they are stored, and reported when the result is used.
    #[track_caller]
    pub fn vmap(&self) -> Afun<Batch<A>, Batch<R>> {
        let at = Location::caller();
        let apply = |(), x: <<Batch<A> as Rows>::Row as Arrays>::Acc| ((), call(self, retype_acc(x.into_acc())));
        let program = |xs: Acc<Batch<A>>| map_accum(("vmap", at), Dir::Left, apply, ().into_acc(), xs).1.into_acc();
        Afun::recorded(self.in_scope("vmap", at).and_then(|_| stage(program)))
    }
}
