//! The product of two matrices as a program, and by the `gemm` crate.

use crate::data::uniform;
use accel::prelude::*;
use gemm::Parallelism;

/// The extent of the matrices.
pub const N: usize = 1024;

/// The product, written as a fold over a zip of replicates.
pub fn product<T: Floating>(a: Acc<Matrix<T>>, b: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    let ((n, _), (_, p)) = (a.shape(), b.shape());
    let terms = zip_with(|x, y| x * y, replicate((All, p, All), a), replicate((n, All, All), transpose(b)));
    fold(|x, y| x + y, lit::<T>(0.0), terms)
}

/// Three matrices of random numbers.
///
/// # Errors
/// None: the extents fit.
pub fn inputs<T: Floating>() -> Result<(Matrix<T>, Matrix<T>, Matrix<T>), Error> {
    let matrix = |seed| Array::matrix(N, N, uniform(seed, N * N, -1.0, 1.0));
    Ok((matrix(1)?, matrix(2)?, matrix(3)?))
}

/// A matrix, transposed or not.
pub enum Operand<'a, T: Floating> {
    /// Not transposed.
    Rows(&'a Matrix<T>),
    /// Transposed.
    Columns(&'a Matrix<T>),
}

impl<T: Floating> Operand<'_, T> {
    /// The address of the first element, the stride of columns, the stride of rows.
    fn layout(&self) -> (*const T, isize, isize) {
        match self {
            Operand::Rows(m) => (m.as_slice().as_ptr(), 1, N as isize),
            Operand::Columns(m) => (m.as_slice().as_ptr(), N as isize, 1),
        }
    }
}

/// The product of two N×N matrices by the `gemm` crate, in all threads.
pub fn multiply<T: Floating>(a: Operand<T>, b: Operand<T>) -> Vec<T> {
    let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
    let mut out = vec![zero; N * N];
    let ((a, a_columns, a_rows), (b, b_columns, b_rows)) = (a.layout(), b.layout());
    let all_threads = Parallelism::Rayon(0);
    let target = out.as_mut_ptr();
    // SAFETY: behind all three addresses there are N×N elements, and the target is not one of the operands. The crate
    // has no safe interface.
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
