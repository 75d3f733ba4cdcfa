//! Directions of derivatives, and the equation by which both modes are compared.

/// Numbers between -1 and 1.
pub fn numbers() -> impl Iterator<Item = f64> {
    (1..).map(|i| (f64::from(i) * 1.7).cos())
}

/// `<dy, J dx>` and `<J^T dy, dx>`, and the sum of the sizes of all their terms.
pub fn both_products(dy: &[f64], jdx: &[f64], jtdy: &[f64], dx: &[f64]) -> [f64; 3] {
    let terms = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
    let (left, right) = (terms(dy, jdx), terms(jtdy, dx));
    let size = left.iter().chain(&right).map(|t| t.abs()).sum();
    [left.iter().sum(), right.iter().sum(), size]
}
