//! Functions that fail where others give NaN.

use super::Matrices;
use super::batches::RightSide;
use super::cholesky::cholesky;
use super::lu::{inv, solve};
use crate::repr::foreign::{View, ViewMut};
use crate::repr::{Call, ColumnView, Foreign};
use crate::surface::{attributed, foreign_call};
use crate::types::{Floating, Shape};
use crate::{Acc, Array, shape};
use std::panic::Location;

/// As [`cholesky`]. A matrix that is not positive definite is an error when the program runs.
///
/// ```
/// use accel::linalg::try_cholesky;
/// use accel::prelude::*;
///
/// let factor = afun(|a: Acc<Matrix<f64>>| try_cholesky(a));
/// assert_eq!(run(&factor, &Array::matrix(1, 1, vec![4.0])?)?.to_vec(), [2.0]);
/// let error = run(&factor, &Array::matrix(1, 1, vec![-1.0])?).unwrap_err();
/// assert!(error.to_string().ends_with("a matrix is not positive definite"));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn try_cholesky<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    let work = |from: &[View], to: &mut [ViewMut]| finite(from, to, "a matrix is not positive definite");
    attributed(("try_cholesky", Location::caller()), || {
        checked(Foreign::linear("try_cholesky", work, unchecked), cholesky(a))
    })
}

/// As [`solve`]. A singular matrix, and numbers that are not finite, are an error when the program runs.
#[track_caller]
pub fn try_solve<Sh: Shape, T: Floating, B: RightSide<Sh, T>>(a: Matrices<Sh, T>, b: B) -> B {
    let work = |from: &[View], to: &mut [ViewMut]| finite(from, to, SINGULAR);
    attributed(("try_solve", Location::caller()), || {
        let x = solve(a, b.columns());
        B::of_columns(checked(Foreign::linear("try_solve", work, unchecked), x))
    })
}

/// As [`inv`]. A singular matrix, and numbers that are not finite, are an error when the program runs.
#[track_caller]
pub fn try_inv<Sh: Shape, T: Floating>(a: Matrices<Sh, T>) -> Matrices<Sh, T> {
    let work = |from: &[View], to: &mut [ViewMut]| finite(from, to, SINGULAR);
    attributed(("try_inv", Location::caller()), || checked(Foreign::linear("try_inv", work, unchecked), inv(a)))
}

const SINGULAR: &str = "a matrix is singular, or not finite";

/// The array itself, after a check.
#[track_caller]
fn checked<Sh: Shape, T: Floating>(function: Foreign, x: Acc<Array<Sh, T>>) -> Acc<Array<Sh, T>> {
    foreign_call(&Call { function, lanes: 0 }, shape(x), x)
}

/// The adjoint of a check, which checks nothing.
fn unchecked() -> Foreign {
    Foreign::linear("unchecked", copied, unchecked)
}

fn copied(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
    for (from, to) in from.iter().zip(to) {
        let copied = from.columns.iter().zip(&mut to.columns).all(|(from, to)| to.copy_from(&from.to_column()));
        if !copied {
            return Err("an array of another type".into());
        }
    }
    Ok(())
}

/// A copy of an array of finite numbers.
fn finite(from: &[View], to: &mut [ViewMut], otherwise: &str) -> Result<(), String> {
    let is_finite = |c: &ColumnView| match c {
        ColumnView::F32(x) => x.iter().all(|x| x.is_finite()),
        ColumnView::F64(x) => x.iter().all(|x| x.is_finite()),
        _ => false,
    };
    match from.iter().flat_map(|a| &a.columns).all(is_finite) {
        true => copied(from, to),
        false => Err(otherwise.into()),
    }
}
