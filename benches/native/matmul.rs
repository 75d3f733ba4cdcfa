//! The product of two matrices, written as a fold over a zip of replicates, and its gradient.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::product::Operand::{Columns, Rows};
use bench_common::product::{inputs, multiply, product};

pub fn cases() -> Vec<Case> {
    let mut cases = cases_in::<f32>("f32", 1e-4);
    cases.extend(cases_in::<f64>("f64", 1e-12));
    cases
}

fn cases_in<T: Floating + Into<f64>>(precision: &str, tolerance: f64) -> Vec<Case> {
    let asked = [Asked::Speed(0.9)];
    vec![
        Case::new("matmul", format!("product, 1024³ {precision}"), "gemm, one product", asked, move || {
            product_pair::<T>(tolerance)
        }),
        Case::new(
            "matmul",
            format!("gradient of the product, 1024³ {precision}"),
            "gemm, two products",
            asked,
            move || gradient_pair::<T>(tolerance),
        ),
    ]
}

fn product_pair<T: Floating + Into<f64>>(tolerance: f64) -> Result<Pair> {
    let (a, b, _) = inputs::<T>()?;
    let ours = native(&afun(product::<T>))?;
    let by_gemm = |a: &Matrix<T>, b: &Matrix<T>| multiply(Rows(a), Rows(b));
    check_close(ours.run((&a, &b))?.as_slice(), &by_gemm(&a, &b), tolerance)?;
    let (a2, b2) = (a.clone(), b.clone());
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run((&a, &b))?)),
        reference: Measure::work(move || Ok(by_gemm(&a2, &b2))),
    })
}

/// The adjoints of both factors, given that of the product.
fn gradient_pair<T: Floating + Into<f64>>(tolerance: f64) -> Result<Pair> {
    let (a, b, d) = inputs::<T>()?;
    let ours = native(&vjp(&afun(product::<T>)))?;
    let by_gemm =
        |a: &Matrix<T>, b: &Matrix<T>, d: &Matrix<T>| (multiply(Rows(d), Columns(b)), multiply(Columns(a), Rows(d)));
    let (da, db) = ours.run(((&a, &b), &d))?;
    let (da_by_gemm, db_by_gemm) = by_gemm(&a, &b, &d);
    check_close(da.as_slice(), &da_by_gemm, tolerance)?;
    check_close(db.as_slice(), &db_by_gemm, tolerance)?;
    let (a2, b2, d2) = (a.clone(), b.clone(), d.clone());
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run(((&a, &b), &d))?)),
        reference: Measure::work(move || Ok(by_gemm(&a2, &b2, &d2))),
    })
}
