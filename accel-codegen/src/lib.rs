//! Generates C from [kernel programs](accel_fusion::kernel), for the compilers of processors ([`emit`]) or, in the
//! dialect of OpenCL, for those of devices ([`opencl::emit`]).
//!
//! In C, a program is one function, `int accel_run(run *)`: the host program. It computes extents, allocates memory
//! through callbacks of the run, and calls the kernels. If there is work for several threads, a callback calls the
//! kernels. Kernels all have one signature, `int f(const array *arrays, const task *task, i64 *fault)`. `arrays` is the
//! table of the program's arrays (extents and columns), `task` is the part of a statement to execute, and `fault`
//! receives a record before a function returns 1: see [`fault`].
//!
//! Generated code has the meaning that the reference interpreter defines: integers wrap, division by zero and indices
//! out of bounds are faults, and conversions saturate. Floating-point operations are reordered only in reductions,
//! whose operators the language requires to be associative. The code must be compiled without fast-math and with
//! `-fwrapv`.
#![forbid(unsafe_code)]

mod analysis;
mod c;
pub mod cost_model;
pub mod nest;
pub mod opencl;
mod shared;
mod text;

pub use analysis::layout::Layout;
pub use analysis::{fault, liveness, partition};
pub use c::{GENERATOR, Module, Options, emit, emit_for};
pub use shared::loop_nest::nest_text;
pub use shared::scan::chains;
pub use shared::strip_choice::excluded_strips;
pub use shared::way_choice::ways_for;
pub use shared::ways::KnownWays;
pub use text::registers::Vectors;
