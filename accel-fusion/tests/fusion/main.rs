//! The simplifier, and the optimiser of kernel programs.

// The prelude of the example's objective comes from here.
extern crate accel_core as accel;

mod deep;
mod deep_kernels;
#[path = "../../../tests/core/deep_programs/mod.rs"]
mod deep_programs;
#[path = "../../../tests/core/growth/mod.rs"]
mod growth;
mod kernel;
mod optimize;
mod proportion;
mod simplify;
