//! Prints the kernels of a [kernel program](accel_fusion::kernel) as C.
//!
//! The generated functions all have one signature, `int f(const array *arrays, const task *task, i64 *fault)`, and are found
//! in the table `accel_functions`. `arrays` is the table of the program's arrays (extents and columns), `task` says
//! what part of a statement is to be done ([`Task`](module) in [`module`]), and `fault` is filled in before a function returns 1:
//! see [`fault`]. What a statement needs to run is a [`Kernel`]: the numbers of its functions.
//!
//! The code means what the reference interpreter does: integers wrap, division by zero and indices out of bounds are
//! faults, conversions saturate, floating-point operations are not reordered but in the reductions that the language declares
//! associative. It must be compiled without fast-math and with `-fwrapv`.
#![forbid(unsafe_code)]

mod code;
mod columns;
pub mod fault;
mod kernels;
pub mod module;
mod ops;
mod parallel;
mod permute;
mod product;

pub use module::{Kernel, Module, Options, emit};
