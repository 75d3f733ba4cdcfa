//! Helper functions for the tests of kernel programs.
#![allow(dead_code)]

use accel_core::repr::{Column, RawArray};
use accel_fusion::kernel::{Program, Verified, parse};
use accel_native::Kernels;

/// Parses and verifies a program.
pub fn program(text: &str) -> Verified<Program> {
    parse(text).and_then(Verified::new).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Compiles a program. The reads that the tests mark as `inside` are within bounds for the inputs of the runs.
pub fn compile(text: &str) -> Kernels {
    // SAFETY: the marks are right.
    let kernels = unsafe { Kernels::trusting(program(text)) };
    kernels.unwrap_or_else(|e| panic!("{e}\n{text}")).expect("the tests need a C compiler")
}

/// An array of one column.
pub fn array(extents: &[usize], column: impl Into<Column>) -> RawArray {
    RawArray { extents: extents.into(), columns: vec![column.into()].into() }
}

/// The only column of an array of `f64`.
pub fn f64s(a: &RawArray) -> &[f64] {
    match &a.columns[0] {
        Column::F64(c) => c,
        c => panic!("a column of {}", c.ty()),
    }
}

/// Pseudo-random numbers between -0.5 and 0.5.
pub fn numbers(n: usize) -> Vec<f64> {
    (0..n as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1 << 24) as f64 - 0.5).collect()
}
