//! Converts arrays to and from the data of messages.

use crate::module::Failure;
use accel::prelude::*;

/// The matrix of these rows.
///
/// # Errors
/// The rows have different lengths.
pub fn matrix(name: &str, rows: Vec<Vec<f64>>) -> Result<Matrix<f64>, Failure> {
    let (n, m) = (rows.len(), rows.first().map_or(0, Vec::len));
    if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != m) {
        let lengths = format!("row 0 has {m} numbers and row {i} has {}", row.len());
        return Err(Failure::Input(format!("`{name}` is not a matrix: {lengths}")));
    }
    Ok(Array::matrix(n, m, rows.concat())?)
}

/// The matrix of these rows, which must have these extents.
///
/// # Errors
/// It has others.
pub fn matrix_of(name: &str, extents: [usize; 2], rows: Vec<Vec<f64>>) -> Result<Matrix<f64>, Failure> {
    let matrix = matrix(name, rows)?;
    let found: [usize; 2] = matrix.shape().into();
    // If there are no rows, their length is not known.
    match found == extents || found[0] == 0 && extents[0] == 0 {
        true => Ok(matrix),
        false => Err(Failure::Input(format!("`{name}` is {found:?} and should be {extents:?}"))),
    }
}

/// A number of the host.
pub fn number(x: Scalar<f64>) -> f64 {
    x.item()
}

/// The numbers of a vector.
pub fn vector(xs: Vector<f64>) -> Vec<f64> {
    xs.to_vec()
}

/// The rows of a matrix.
pub fn rows(m: Matrix<f64>) -> Vec<Vec<f64>> {
    let [n, columns] = m.shape().into();
    (0..n).map(|i| m.as_slice()[i * columns..(i + 1) * columns].to_vec()).collect()
}
