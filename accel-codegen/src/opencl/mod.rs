//! Generates OpenCL C: the text of all kernels, and for every statement the kernels that execute it, with their
//! arguments.
//!
//! A backend walks the statements (see [`crate::liveness`]), computes their extents and allocates memory. For each
//! statement that computes elements, it calls [`Statement::work`] to get the launches. Nothing here communicates with a
//! device.

mod accumulate;
mod atomic_scatter;
mod contraction;
mod elementwise;
mod emitter;
mod group_reduce;
mod group_scan;
mod launch;
mod loads;
mod look_back;
mod module;
mod permute;
mod reduce;
mod row_major;
mod rows;
mod scan;
mod scan_tile;
mod sort;
mod statement;
pub(crate) mod sums;
mod target;
mod tiled_product;
mod work;

pub use crate::text::parameters::Arg;
pub use loads::reciprocal;
pub use module::{Module, emit};
pub use statement::Statement;
pub use target::Target;
pub use work::{Kernel, Launch, Sizes, Work, size_of};
