//! Sparse matrices by rows: products, the transpose, and the form in which they are made.
//!
//! A matrix has `pointers.len() - 1` rows, stored one after the other: the elements of row i are `values[k]` in the columns `columns[k]`,
//! for k from `pointers[i]` to before `pointers[i + 1]`. This form is called CSR. Columns need not be sorted; elements in the same
//! place are added.

use super::element_counts::cut_off;
use super::graph::attribute_to;
use super::nodes::At;
use super::primitives::{agree, agree_shapes, bounded};
use super::{
    Acc, Exp, IntoShape, ToExp, argsort, cond, constant, diff, expand, fold, gather, generate, iota, map, searchsorted,
    shape, the, while_,
};
use crate::array::{Matrix, Vector};
use crate::repr::Agreement;
use crate::types::{Dim1, Num};
use std::panic::Location;

/// The pointers, the columns and the values of a matrix.
type Csr<T> = (Acc<Vector<i64>>, Acc<Vector<i64>>, Acc<Vector<T>>);

/// The product of a sparse matrix and a vector. The matrix has `pointers.len() - 1` rows, stored one after the other: the elements of row
/// i are `values[k]` in the columns `columns[k]`, for k from `pointers[i]` to before `pointers[i + 1]`. In SciPy,
/// `csr_matrix((values, columns, pointers)) @ x`. Pointers that do not divide the values into rows are an error when the program runs,
/// and so are columns outside of `x`. Each row is summed from left to right. For the product of the transposed matrix, see
/// [`csr_transpose`].
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
    let values = rows_checked(site, pointers, columns, values);
    generate(pointers.len() - 1, |i| sum_of_row(pointers, i, |k| values.at(k) * x.at(columns.at(k))))
}

/// The product of a sparse matrix and a matrix `x`, with as many columns as `x`: as [`csr_matvec`] of each of its columns. In SciPy,
/// `csr_matrix((values, columns, pointers)) @ x`. The errors are those of `csr_matvec`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type Indices = Acc<Vector<i64>>;
/// let product = afun(|pointers: Indices, columns: Indices, values: Acc<Vector<f64>>, x: Acc<Matrix<f64>>| {
///     csr_matmul(pointers, columns, values, x)
/// });
/// // The rows 0 2 and 3 4.
/// let (pointers, columns) = (Array::vector(vec![0, 1, 3]), Array::vector(vec![1, 0, 1]));
/// let (values, x) = (Array::vector(vec![2.0, 3.0, 4.0]), Array::matrix(2, 2, vec![1.0, 0.0, 10.0, 1.0])?);
/// let y = run_with(&Interpreter, &product, (&pointers, &columns, &values, &x))?;
/// assert_eq!(y.as_slice(), [20.0, 2.0, 43.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn csr_matmul<T: Num>(
    pointers: Acc<Vector<i64>>,
    columns: Acc<Vector<i64>>,
    values: Acc<Vector<T>>,
    x: Acc<Matrix<T>>,
) -> Acc<Matrix<T>> {
    let site = ("csr_matmul", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let values = rows_checked(site, pointers, columns, values);
    generate((pointers.len() - 1, x.shape().1), |(i, j)| {
        sum_of_row(pointers, i, |k| values.at(k) * x.at((columns.at(k), j)))
    })
}

/// The transpose of a sparse matrix with `n` columns: pointers, columns and values of a matrix with `n` rows. In each row, the columns
/// are sorted. A column outside of 0, …, `n` - 1 is an error when the program runs, and so are pointers that do not divide the values into
/// rows. In SciPy, `csr_matrix((values, columns, pointers)).T.tocsr()`.
///
/// A product with the transposed matrix that is computed once needs no transposed matrix: it is
/// `sums_at(n, columns, values * gather(expand(diff(pointers)), x))`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type Indices = Acc<Vector<i64>>;
/// let transposed = afun(|pointers: Indices, columns: Indices, values: Acc<Vector<f64>>| {
///     csr_transpose(2, pointers, columns, values)
/// });
/// // The rows 0 2 and 0 0 and 3 4.
/// let (pointers, columns) = (Array::vector(vec![0, 1, 1, 3]), Array::vector(vec![1, 0, 1]));
/// let (pointers, columns, values) =
///     run_with(&Interpreter, &transposed, (&pointers, &columns, &Array::vector(vec![2.0, 3.0, 4.0])))?;
/// assert_eq!((pointers.as_slice(), columns.as_slice()), (&[0, 1, 3][..], &[2, 0, 2][..]));
/// assert_eq!(values.as_slice(), [3.0, 2.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn csr_transpose<T: Num>(
    n: impl ToExp<i64>,
    pointers: Acc<Vector<i64>>,
    columns: Acc<Vector<i64>>,
    values: Acc<Vector<T>>,
) -> Csr<T> {
    let site = ("csr_transpose", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let columns = agree_shapes(site, Agreement::Segments, stored(pointers).into_shape(), shape(columns), columns);
    // All results depend on the columns, so that the checks are made whichever of them is used.
    let columns = agree(site, Agreement::All, values, columns);
    let (order, pointers_of_columns) = rows_sorted(site, n.to_exp(), columns);
    let rows = expand(diff(pointers));
    (pointers_of_columns, gather(order, rows), gather(order, values))
}

/// The matrix with `n` rows that has the elements `values[k]` in the rows `rows[k]` and the columns `columns[k]`, in any order: its pointers,
/// columns and values. In a row, the elements keep their order. In SciPy, `coo_matrix((values, (rows, columns))).tocsr()`, which adds elements
/// in the same place; the products here add them as well.
///
/// A row outside of 0, …, `n` - 1 is an error when the program runs, and so are vectors of different lengths.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type Indices = Acc<Vector<i64>>;
/// let by_rows = afun(|rows: Indices, columns: Indices, values: Acc<Vector<f64>>| coo_to_csr(3, rows, columns, values));
/// let (rows, columns) = (Array::vector(vec![2, 0, 2]), Array::vector(vec![0, 1, 1]));
/// let (pointers, columns, values) =
///     run_with(&Interpreter, &by_rows, (&rows, &columns, &Array::vector(vec![3.0, 2.0, 4.0])))?;
/// assert_eq!((pointers.as_slice(), columns.as_slice()), (&[0, 1, 1, 3][..], &[1, 0, 1][..]));
/// assert_eq!(values.as_slice(), [2.0, 3.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn coo_to_csr<T: Num>(
    n: impl ToExp<i64>,
    rows: Acc<Vector<i64>>,
    columns: Acc<Vector<i64>>,
    values: Acc<Vector<T>>,
) -> Csr<T> {
    let site = ("coo_to_csr", Location::caller());
    let _site = attribute_to(site.0, site.1);
    // All results depend on the rows, so that the checks are made whichever of them is used.
    let rows = agree(site, Agreement::All, columns, rows);
    let rows = agree(site, Agreement::All, values, rows);
    let (order, pointers) = rows_sorted(site, n.to_exp(), rows);
    (pointers, gather(order, columns), gather(order, values))
}

/// The values of a matrix, with a check that the pointers divide them into rows and that there are as many columns.
#[track_caller]
fn rows_checked<T: Num>(
    site: (&'static str, At),
    pointers: Acc<Vector<i64>>,
    columns: Acc<Vector<i64>>,
    values: Acc<Vector<T>>,
) -> Acc<Vector<T>> {
    let values = agree_shapes(site, Agreement::Segments, stored(pointers).into_shape(), shape(values), values);
    agree(site, Agreement::All, columns, values)
}

/// The number of elements that the pointers divide into rows; if a row has a negative one, this.
#[track_caller]
fn stored(pointers: Acc<Vector<i64>>) -> Exp<i64> {
    let near = map(cut_off, pointers);
    let least = the(fold(|a, b| a.min(b), 0, diff(near)));
    cond::<i64>(least.lt(0), least, near.at(pointers.len() - 1) - near.at(0))
}

/// The sum of the terms of row `i`, from left to right.
fn sum_of_row<T: Num>(pointers: Acc<Vector<i64>>, i: Exp<i64>, term: impl FnOnce(Exp<i64>) -> Exp<T>) -> Exp<T> {
    let end = pointers.at(i + 1);
    let add = |(k, sum): (Exp<i64>, Exp<T>)| (k + 1, sum + term(k));
    while_(|(k, _): (Exp<i64>, Exp<T>)| k.lt(end), add, (pointers.at(i), constant(T::zero()))).1
}

/// The order in which the elements of `n` rows are sorted by their rows, and the pointers of these rows.
#[track_caller]
fn rows_sorted(site: (&'static str, At), n: Exp<i64>, rows: Acc<Vector<i64>>) -> (Acc<Vector<i64>>, Acc<Vector<i64>>) {
    let (least, most) = (the(fold(|a, b| a.min(b), 0, rows)), the(fold(|a, b| a.max(b), -1, rows)));
    let rows = bounded::<Dim1, _, _>(site, &[least], |_| (0i64.to_exp(), n), rows);
    let rows = bounded::<Dim1, _, _>(site, &[most], |_| ((-1i64).to_exp(), n - 1), rows);
    let order = argsort(rows);
    (order, searchsorted(gather(order, rows), iota(n + 1)))
}
