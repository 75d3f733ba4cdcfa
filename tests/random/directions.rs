//! Directions of derivatives, and the equation by which both modes are compared.

use accel::repr::{ArrayTuple, Column, RawArray};

/// Numbers between -1 and 1.
pub fn numbers() -> impl Iterator<Item = f64> {
    (1..).map(|i| (f64::from(i) * 1.7).cos())
}

/// The same arrays with other floats. The other elements of a direction have no effect.
pub fn with_floats(a: &ArrayTuple, f: &mut impl FnMut(f64) -> f64) -> ArrayTuple {
    let mut column = |c: &Column| match c {
        Column::F64(c) => Column::from(c.iter().map(|x| f(*x)).collect::<Vec<f64>>()),
        Column::F32(c) => Column::from(c.iter().map(|x| f((*x).into()) as f32).collect::<Vec<f32>>()),
        c => c.clone(),
    };
    let mut array =
        |a: &RawArray| RawArray { extents: a.extents.clone(), columns: a.columns.iter().map(&mut column).collect() };
    match a {
        ArrayTuple::Unit => ArrayTuple::Unit,
        ArrayTuple::Array(a) => ArrayTuple::Array(array(a)),
        ArrayTuple::Pair(p) => ArrayTuple::pair(with_floats(&p.0, f), with_floats(&p.1, f)),
    }
}

/// `<dy, J dx>` and `<J^T dy, dx>`, and the sum of the sizes of all their terms.
pub fn both_products(dy: &[f64], jdx: &[f64], jtdy: &[f64], dx: &[f64]) -> [f64; 3] {
    let terms = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<_>>();
    let (left, right) = (terms(dy, jdx), terms(jtdy, dx));
    let size = left.iter().chain(&right).map(|t| t.abs()).sum();
    [left.iter().sum(), right.iter().sum(), size]
}
