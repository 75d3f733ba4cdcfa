//! Products of many pairs of matrices.

use super::graph::attribute_to;
use super::primitives::agree;
use super::reductions::product_of;
use super::{Acc, All, Exp, index_head, index_tail, replicate, reshape, shape, size_of, snoc, sum, zip_with_min};
use crate::array::Array;
use crate::repr::Agreement;
use crate::types::{Dim3, Num, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;
type Matrices<Sh, T> = Arr<Snoc<Snoc<Sh>>, T>;

/// The products of pairs of matrices: `a` has the shape [k, n, m], `b` the shape [k, m, p], and the result [k, n, p]; with any number of
/// leading dimensions, which both have, in place of one. In NumPy, `a @ b`; with one, the same as
/// `vmap(|(a, b)| matmul(a, b), (a, b))`. Other shapes are an error when the program runs. For one matrix `b`, see
/// [`matmul`](super::matmul).
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type Matrices = Acc<Array<Dim3, f64>>;
/// let a = Array::from_vec([2, 1, 2], vec![1.0, 2.0, 3.0, 4.0])?;
/// let b = Array::from_vec([2, 2, 1], vec![1.0, 1.0, 10.0, 1.0])?;
/// let products = run_with(&Interpreter, &afun(|a: Matrices, b: Matrices| bmm(a, b)), (&a, &b))?;
/// assert_eq!(products.as_slice(), [3.0, 34.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn bmm<Sh: Shape, T: Num>(a: Matrices<Sh, T>, b: Matrices<Sh, T>) -> Matrices<Sh, T> {
    let site = ("bmm", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let b = agree(site, Agreement::Matrices, a, b);
    match Sh::RANK {
        0 => Acc::new(product_of::<T>(Acc::new(a.handle()), Acc::new(b.handle())).handle()),
        1 => Acc::new(products_of::<T>(Acc::new(a.handle()), Acc::new(b.handle())).handle()),
        _ => {
            let (outer, n, p) = (index_tail(index_tail(shape(a))), rows(a), index_head(shape(b)));
            reshape(snoc(snoc(outer, n), p), products_of(listed(a), listed(b)))
        }
    }
}

/// The products of two lists of matrices that agree.
#[track_caller]
fn products_of<T: Num>(a: Arr<Dim3, T>, b: Arr<Dim3, T>) -> Arr<Dim3, T> {
    let ((_, n, _), (_, _, p)) = (a.shape(), b.shape());
    sum(zip_with_min(|x, y| x * y, replicate((All, All, p, All), a), replicate((All, n, All, All), b.axis::<1>())))
}

/// The matrices with any number of leading dimensions as a list.
#[track_caller]
fn listed<Sh: Shape, T: Num>(a: Matrices<Sh, T>) -> Arr<Dim3, T> {
    let sh = shape(a);
    reshape((size_of(index_tail(index_tail(sh))), rows(a), index_head(sh)), a)
}

/// The number of rows of each matrix.
#[track_caller]
fn rows<Sh: Shape, T: Num>(a: Matrices<Sh, T>) -> Exp<i64> {
    index_head(index_tail(shape(a)))
}
