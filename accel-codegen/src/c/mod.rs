//! Generates C: the kernels of all statements, and the host program that calls them.

pub mod frames;
mod gemm;
mod host;
mod kernels;
mod module;
mod scalar_loops;
mod shared_kernels;
mod translation_units;
pub mod vectors;

pub use module::{GENERATOR, Module, Options, emit, emit_for};
