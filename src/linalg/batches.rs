//! Batches: arrays whose innermost two dimensions are matrices. Functions of one matrix are applied to each matrix of a list, so a batch
//! of any rank is a list for a while.

use super::{List, M, Matrices, V, Vectors};
use crate::repr::Agreement;
use crate::surface::{agree, index_head, index_tail, size_of, snoc};
use crate::types::{Arrays, Elt, Listed, Rows, Shape, Snoc};
use crate::{Acc, Array, Exp, IntoAcc, reshape, shape, vmap};
use std::any::Any;
use std::panic::Location;

/// The name of a function of the library, and the line of its call.
pub(super) type Site = (&'static str, &'static Location<'static>);

/// The list of what a function returns.
type ListOf<Y> = <<<Y as IntoAcc>::Arrays as Listed>::List as Arrays>::Acc;
/// A row of lists.
type RowOf<L> = <<<L as IntoAcc>::Arrays as Rows>::Row as Arrays>::Acc;

/// A value as another type, if it is the same type: a batch of no dimensions is one matrix.
fn same<A: 'static, B: Copy + 'static>(a: A) -> Option<B> {
    (&a as &dyn Any).downcast_ref().copied()
}

/// Applies `f` to each matrix of a batch, of which `lists` makes lists; `nested` makes a batch of the list of results. If the batch is one matrix, `f` is applied
/// to it.
pub(super) fn each<X, L, Y, R>(
    batch: X,
    lists: impl FnOnce(X) -> L,
    f: impl FnOnce(RowOf<L>) -> Y,
    nested: impl FnOnce(ListOf<Y>) -> R,
) -> R
where
    X: Copy + 'static,
    L: IntoAcc<Arrays: Rows>,
    Y: IntoAcc<Arrays: Listed> + 'static,
    R: Copy + 'static,
{
    match same(batch) {
        Some(one) => same(f(one)).expect("the result for one matrix is that of a batch of no dimensions"),
        None => nested(vmap(f, lists(batch))),
    }
}

/// Applies a function from square matrices to square matrices to each matrix of a batch.
pub(super) fn each_square<Sh: Shape, T: Elt>(
    site: Site,
    a: Matrices<Sh, T>,
    f: impl FnOnce(M<T>) -> M<T>,
) -> Matrices<Sh, T> {
    let a = square(site, a);
    each(a, matrices, f, |all| matrices_of(outer(a), extents(a), all))
}

/// A batch, with a check that its matrices are square.
pub(super) fn square<Sh: Shape, T: Elt>(site: Site, a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    agree(site, Agreement::Square, a, a)
}

/// The shape of a batch of matrices.
pub(super) fn outer<Sh: Shape, T: Elt>(a: Matrices<Sh, T>) -> Exp<Sh> {
    index_tail(index_tail(shape(a)))
}

/// The matrices of a batch.
pub(super) fn matrices<Sh: Shape, T: Elt>(a: Matrices<Sh, T>) -> List<T> {
    let (n, m) = extents(a);
    reshape((size_of(outer(a)), n, m), a)
}

/// The vectors of a batch.
pub(super) fn vectors<Sh: Shape, T: Elt>(a: Vectors<Sh, T>) -> M<T> {
    let sh = shape(a);
    reshape((size_of(index_tail(sh)), index_head(sh)), a)
}

/// A list of numbers as those of a batch.
pub(super) fn numbers_of<Sh: Shape, T: Elt>(outer: Exp<Sh>, all: V<T>) -> Acc<Array<Sh, T>> {
    reshape(outer, all)
}

/// A list of vectors of this length as those of a batch. A list without vectors has lost their length.
pub(super) fn vectors_of<Sh: Shape, T: Elt>(outer: Exp<Sh>, n: Exp<i64>, all: M<T>) -> Vectors<Sh, T> {
    reshape(snoc(outer, n), all)
}

/// A list of matrices of this shape as those of a batch.
pub(super) fn matrices_of<Sh: Shape, T: Elt>(
    outer: Exp<Sh>,
    (n, m): (Exp<i64>, Exp<i64>),
    all: List<T>,
) -> Matrices<Sh, T> {
    reshape(snoc(snoc(outer, n), m), all)
}

/// The numbers of rows and columns of the matrices of a batch.
pub(super) fn extents<Sh: Shape, T: Elt>(a: Matrices<Sh, T>) -> (Exp<i64>, Exp<i64>) {
    let sh = shape(a);
    (index_head(index_tail(sh)), index_head(sh))
}

/// The right sides of systems of equations, one for each matrix of a batch of the shape `Sh`: a vector, or the columns of a matrix.
pub trait RightSide<Sh: Shape, T: Elt>: Copy {
    /// The right sides as columns of matrices.
    #[doc(hidden)]
    fn columns(self) -> Acc<Array<Snoc<Snoc<Sh>>, T>>;
    /// Solutions in columns in the form of the right sides.
    #[doc(hidden)]
    fn of_columns(columns: Acc<Array<Snoc<Snoc<Sh>>, T>>) -> Self;
}

impl<Sh: Shape, T: Elt> RightSide<Sh, T> for Acc<Array<Snoc<Sh>, T>> {
    fn columns(self) -> Matrices<Sh, T> {
        reshape(snoc(shape(self), 1), self)
    }
    fn of_columns(columns: Matrices<Sh, T>) -> Self {
        reshape(index_tail(shape(columns)), columns)
    }
}

impl<Sh: Shape, T: Elt> RightSide<Sh, T> for Acc<Array<Snoc<Snoc<Sh>>, T>> {
    fn columns(self) -> Self {
        self
    }
    fn of_columns(columns: Self) -> Self {
        columns
    }
}
