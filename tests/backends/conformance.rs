//! Compares every operation of the surface language with plain Rust, on every backend and on the evaluator of kernel
//! programs.

use crate::suite;
use accel::interp::Interpreter;
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};

#[test]
fn interpreter() {
    let checks = suite::all(&Interpreter);
    println!("{checks} results compared");
}

#[test]
fn native() {
    let checks = suite::all_in_parallel(accel::backend_named("native").unwrap());
    println!("{checks} results compared");
}

#[test]
fn kernel_evaluator() {
    let checks = suite::all(&KernelEvaluator);
    println!("{checks} results compared");
}

#[test]
fn optimized_kernel_evaluator() {
    let checks = suite::all(&OptimizedEvaluator);
    println!("{checks} results compared");
}

/// The native backend without a C compiler.
#[test]
fn vectorized_interpreter() {
    let checks = suite::all_in_parallel(&accel_native::VectorizedInterpreter);
    println!("{checks} results compared");
}
