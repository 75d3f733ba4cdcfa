//! Shapes at run time: extents, outermost dimension first, and row-major positions.

use super::place::Place;
use crate::error::{Error, Result};
use crate::repr::{RawExtents, Scalar, checked_size};

/// The row-major position of an index; `None` if the index is out of bounds.
pub fn offset(extents: &[usize], index: impl Iterator<Item = Scalar>) -> Result<Option<usize>> {
    let mut position = 0;
    for (extent, i) in extents.iter().zip(index) {
        match usize::try_from(int(i)?) {
            Ok(i) if i < *extent => position = position * extent + i,
            _ => return Ok(None),
        }
    }
    Ok(Some(position))
}

/// The row-major position of an index that is known to be within bounds.
pub fn position(extents: &[usize], index: &[usize]) -> usize {
    extents.iter().zip(index).fold(0, |p, (extent, i)| p * extent + i)
}

/// Makes extents from the leaves of a shape. None of them may be negative, and an array must be able to have this size.
pub fn extents(place: Place, shape: impl Iterator<Item = Scalar>) -> Result<RawExtents> {
    let shape = shape.map(int).collect::<Result<Vec<_>>>()?;
    let extents: Option<RawExtents> = shape.iter().map(|e| usize::try_from(*e).ok()).collect();
    let extents = extents.ok_or_else(|| Error::Shape {
        op: place.to_string(),
        expected: "extents that are not negative".into(),
        found: format!("{shape:?}"),
    })?;
    check_size(place, &extents)?;
    Ok(extents)
}

/// The number of elements of an array with these extents, which must be valid for an array: NOTE [The largest extent].
pub fn check_size(place: Place, extents: &[usize]) -> Result<usize> {
    checked_size(extents).ok_or_else(|| Error::Memory { op: place.to_string(), shape: extents.to_vec() })
}

/// Calls `f` with every valid index and its position, in row-major order.
pub fn for_each_index(extents: &[usize], mut f: impl FnMut(usize, &[usize]) -> Result<()>) -> Result<()> {
    if extents.contains(&0) {
        return Ok(());
    }
    let mut index = vec![0; extents.len()];
    for position in 0.. {
        f(position, &index)?;
        // The next index: add 1 to the innermost dimension and carry; the loop ends when the outermost dimension
        // carries.
        let Some(k) = (0..extents.len()).rfind(|k| index[*k] + 1 < extents[*k]) else { break };
        index[k] += 1;
        index[k + 1..].fill(0);
    }
    Ok(())
}

/// The error of an index out of the bounds of `extents`.
pub fn out_of_bounds(op: String, index: impl Iterator<Item = Scalar>, extents: &[usize]) -> Error {
    match index.map(int).collect::<Result<_>>() {
        Ok(index) => Error::OutOfBounds { op, index, shape: extents.to_vec() },
        Err(e) => e,
    }
}

/// The integer value of an index or extent.
pub fn int(x: Scalar) -> Result<i64> {
    match x {
        Scalar::I64(i) => Ok(i),
        _ => Err(Error::Internal(format!("index of type {}", x.ty()))),
    }
}
