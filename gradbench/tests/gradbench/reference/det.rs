//! The determinant by expansion along the first row.

/// The determinant of a matrix of n × n numbers, row by row.
pub fn value(a: &[f64], n: usize) -> f64 {
    (0..n).map(|column| a[column] * cofactor(a, n, 0, column)).sum::<f64>() + if n == 0 { 1.0 } else { 0.0 }
}

/// The determinant without a row and a column, negated if they have different parity.
fn cofactor(a: &[f64], n: usize, row: usize, column: usize) -> f64 {
    let rest: Vec<f64> = (0..n * n).filter(|i| i / n != row && i % n != column).map(|i| a[i]).collect();
    value(&rest, n - 1) * if (row + column).is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The determinant is linear in each entry, whose factor is its cofactor.
pub fn gradient(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|i| cofactor(a, n, i / n, i % n)).collect()
}
