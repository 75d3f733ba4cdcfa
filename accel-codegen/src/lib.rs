//! Prints [kernel programs](accel_fusion::kernel) as C, for the compilers of processors ([`emit`]) or, in the dialect of OpenCL, for those of
//! devices ([`opencl::emit`]).
//!
//! In C a program is one function, `int accel_run(run *)`: the host program, which computes extents, allocates memory through callbacks of the
//! run, and calls the kernels, or leaves the calls to callbacks where there is work for several threads. Kernels
//! all have one signature, `int f(const array *arrays, const task *task, i64 *fault)`. `arrays` is the table of the program's arrays
//! (extents and columns), `task` says what part of a statement is to be done, and `fault` is filled in before a function
//! returns 1: see [`fault`].
//!
//! The code means what the reference interpreter does: integers wrap, division by zero and indices out of bounds are
//! faults, conversions saturate, floating-point operations are not reordered but in the reductions that the language declares
//! associative. It must be compiled without fast-math and with `-fwrapv`.
#![forbid(unsafe_code)]

mod analysis;
mod c;
pub mod opencl;
mod shared;
mod text;

pub use analysis::layout::Layout;
pub use analysis::{fault, liveness, partition};
pub use c::{Module, Options, emit};
pub use shared::nontemporal;
pub use text::registers::Vectors;
