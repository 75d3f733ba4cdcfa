//! The host program: the C functions that execute statements around the kernels.
//!
//! The tables of a run contain the extents and columns of all arrays, at the positions of [`Layout`](crate::Layout),
//! and for each column its block of memory, with the number of arrays that share it. An array of rank 0 has no blocks.
//! Its columns are cells of the run, which are copied where other columns are shared.

mod frame;
pub mod inline;
mod memory;
mod scalar_entry;
pub mod statements;
mod strip;
mod tape;
mod writer;
