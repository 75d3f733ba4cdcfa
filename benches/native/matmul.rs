//! The product of two matrices, written as a fold over a zip of replicates, and its gradient.

use super::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use super::data::uniform;
use accel::prelude::*;
use gemm::Parallelism;

const N: usize = 1024;

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

fn product<T: Floating>(a: Acc<Matrix<T>>, b: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    let ((n, _), (_, p)) = (a.shape(), b.shape());
    let terms = zip_with(|x, y| x * y, replicate((All, p, All), a), replicate((n, All, All), transpose(b)));
    fold(|x, y| x + y, lit::<T>(0.0), terms)
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

/// The adjoints of both factors from that of the product.
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

fn inputs<T: Floating>() -> Result<(Matrix<T>, Matrix<T>, Matrix<T>)> {
    let matrix = |seed| Array::matrix(N, N, uniform(seed, N * N, -1.0, 1.0));
    Ok((matrix(1)?, matrix(2)?, matrix(3)?))
}

/// A matrix as it is, or transposed.
enum Operand<'a, T: Floating> {
    Rows(&'a Matrix<T>),
    Columns(&'a Matrix<T>),
}
use Operand::{Columns, Rows};

impl<T: Floating> Operand<'_, T> {
    /// The address of the first element, the distance of columns, the distance of rows.
    fn layout(&self) -> (*const T, isize, isize) {
        match self {
            Rows(m) => (m.as_slice().as_ptr(), 1, N as isize),
            Columns(m) => (m.as_slice().as_ptr(), N as isize, 1),
        }
    }
}

/// The product of two N×N matrices by the `gemm` crate, on all threads.
fn multiply<T: Floating>(a: Operand<T>, b: Operand<T>) -> Vec<T> {
    let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
    let mut out = vec![zero; N * N];
    let ((a, a_columns, a_rows), (b, b_columns, b_rows)) = (a.layout(), b.layout());
    let all_threads = Parallelism::Rayon(0);
    let target = out.as_mut_ptr();
    // SAFETY: all three are N×N elements behind the addresses, and the target is not one of the operands. The crate has no
    // safe interface.
    unsafe {
        gemm::gemm(
            N,
            N,
            N,
            target,
            1,
            N as isize,
            false,
            a,
            a_columns,
            a_rows,
            b,
            b_columns,
            b_rows,
            zero,
            one,
            false,
            false,
            false,
            all_threads,
        );
    }
    out
}
