//! Contributions to adjoints, dense or sparse, and their sum.

use accel_core::error::{Error, Result};
use accel_core::repr::{Column, RawArray, RawTy};
use std::sync::Arc;

/// A contribution to the adjoint of an array.
#[derive(Clone)]
pub enum Contribution {
    /// An array of the same shape.
    Dense(RawArray),
    /// Zero except at these row-major positions, which may repeat. There is an element for each position.
    Sparse(Vec<usize>, RawArray),
}

impl Contribution {
    /// The adjoint of a result. Its discrete components do not count.
    pub fn seed(a: &RawArray) -> Result<Contribution> {
        let column = |c: &Column| match c.ty().is_float() {
            true => Ok(c.clone()),
            false => Column::zeros(c.ty(), c.len()).ok_or_else(|| no_memory(a)),
        };
        let columns = a.columns.iter().map(column).collect::<Result<_>>()?;
        Ok(Contribution::Dense(RawArray { extents: a.extents.clone(), columns }))
    }
    /// How many numbers it contains.
    pub fn numbers(&self) -> usize {
        match self {
            Contribution::Dense(a) | Contribution::Sparse(_, a) => a.columns.iter().map(Column::len).sum(),
        }
    }
}

/// Zeros in the shape of an array of type `ty`.
pub fn zeros(ty: &RawTy, like: &RawArray) -> Result<RawArray> {
    let column = |s| Column::zeros(s, like.size()).ok_or_else(|| no_memory(like));
    let columns = ty.leaves().into_iter().map(column).collect::<Result<_>>()?;
    Ok(RawArray { extents: like.extents.clone(), columns })
}

fn no_memory(like: &RawArray) -> Error {
    Error::Memory { op: "adjoint".into(), shape: like.extents.to_vec() }
}

/// The sum of contributions, in this order, to the adjoint of the array `like` of type `ty`. Discrete components are
/// zero.
pub fn sum(parts: Vec<Contribution>, ty: &RawTy, like: &RawArray) -> Result<RawArray> {
    let mut parts = parts.into_iter().peekable();
    let mut total = match parts.next_if(|p| matches!(p, Contribution::Dense(_))) {
        Some(Contribution::Dense(first)) => first,
        _ => zeros(ty, like)?,
    };
    for part in parts {
        match part {
            Contribution::Dense(a) => {
                for (to, from) in total.columns.iter_mut().zip(&a.columns) {
                    add(to, from);
                }
            }
            Contribution::Sparse(positions, values) => {
                for (to, from) in total.columns.iter_mut().zip(&values.columns) {
                    add_at(to, &positions, from)?;
                }
            }
        }
    }
    Ok(total)
}

fn add(to: &mut Column, from: &Column) {
    match (to, from) {
        (Column::F64(to), Column::F64(from)) => {
            Arc::make_mut(to).iter_mut().zip(from.iter()).for_each(|(x, y)| *x += y)
        }
        (Column::F32(to), Column::F32(from)) => {
            Arc::make_mut(to).iter_mut().zip(from.iter()).for_each(|(x, y)| *x += y)
        }
        // Discrete components have no adjoints.
        _ => {}
    }
}

fn add_at(to: &mut Column, positions: &[usize], from: &Column) -> Result<()> {
    let outside = || Error::Internal("a position outside of the adjoint".into());
    match (to, from) {
        (Column::F64(to), Column::F64(from)) => {
            let to = Arc::make_mut(to);
            positions.iter().zip(from.iter()).try_for_each(|(i, x)| to.get_mut(*i).map(|y| *y += x).ok_or_else(outside))
        }
        (Column::F32(to), Column::F32(from)) => {
            let to = Arc::make_mut(to);
            positions.iter().zip(from.iter()).try_for_each(|(i, x)| to.get_mut(*i).map(|y| *y += x).ok_or_else(outside))
        }
        _ => Ok(()),
    }
}
