//! Products of many pairs of matrices, and of a sparse matrix.

use super::element_counts::cut_off;
use super::graph::attribute_to;
use super::primitives::{agree, agree_shapes};
use super::{
    Acc, All, Exp, IntoShape, cond, constant, diff, fold, generate, map, replicate, shape, sum, the, while_,
    zip_with_min,
};
use crate::array::{Array, Vector};
use crate::repr::Agreement;
use crate::types::{Dim3, Num};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// The products of k pairs of matrices: `a` has the shape [k, n, m], `b` the shape [k, m, p], and the result [k, n, p]. In NumPy, `a @ b`;
/// the same as `vmap(|(a, b)| matmul(a, b), (a, b))`. Other shapes are an error when the program runs.
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
pub fn bmm<T: Num>(a: Arr<Dim3, T>, b: Arr<Dim3, T>) -> Arr<Dim3, T> {
    let site = ("bmm", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let b = agree(site, Agreement::Matrices, a, b);
    let ((_, n, _), (_, _, p)) = (a.shape(), b.shape());
    sum(zip_with_min(|x, y| x * y, replicate((All, All, p, All), a), replicate((All, n, All, All), b.axis::<1>())))
}

/// The product of a sparse matrix and a vector. The matrix has `pointers.len() - 1` rows, stored one after the other: the elements of row
/// i are `values[k]` in the columns `columns[k]`, for k from `pointers[i]` to before `pointers[i + 1]`. In SciPy,
/// `csr_matrix((values, columns, pointers)) @ x`. Pointers that do not divide the values into rows are an error when the program runs,
/// and so are columns outside of `x`. Each row is summed from left to right.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type Indices = Acc<Vector<i64>>;
/// type Numbers = Acc<Vector<f64>>;
/// let product = afun(|pointers: Indices, columns: Indices, values: Numbers, x: Numbers| {
///     csr_matvec(pointers, columns, values, x)
/// });
/// // The rows 0 2 and 0 0 and 3 4.
/// let (pointers, columns) = (Array::vector(vec![0, 1, 1, 3]), Array::vector(vec![1, 0, 1]));
/// let (values, x) = (Array::vector(vec![2.0, 3.0, 4.0]), Array::vector(vec![1.0, 10.0]));
/// let y = run_with(&Interpreter, &product, (&pointers, &columns, &values, &x))?;
/// assert_eq!(y.as_slice(), [20.0, 0.0, 43.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn csr_matvec<T: Num>(
    pointers: Acc<Vector<i64>>,
    columns: Acc<Vector<i64>>,
    values: Acc<Vector<T>>,
    x: Acc<Vector<T>>,
) -> Acc<Vector<T>> {
    let site = ("csr_matvec", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let rows = pointers.len() - 1;
    let near = map(cut_off, pointers);
    let least = the(fold(|a, b| a.min(b), 0, diff(near)));
    let total = cond::<i64>(least.lt(0), least, near.at(rows) - near.at(0));
    let values = agree_shapes(site, Agreement::Segments, total.into_shape(), shape(values), values);
    let values = agree(site, Agreement::All, columns, values);
    generate(rows, |i| {
        let end = pointers.at(i + 1);
        let add = |(k, sum): (Exp<i64>, Exp<T>)| (k + 1, sum + values.at(k) * x.at(columns.at(k)));
        while_(|(k, _)| k.lt(end), add, (pointers.at(i), constant(T::zero()))).1
    })
}
