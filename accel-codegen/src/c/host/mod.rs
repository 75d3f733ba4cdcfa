//! The host program: what is done around the kernels, as C functions of the run.
//!
//! The tables of the run hold the extents and columns of all arrays, at the places that [`Layout`](crate::Layout) tells, and each column's block
//! of memory with the number of arrays that share it. An array of rank 0 has no blocks: its columns are cells of the run, and are copied where
//! others are shared.

pub mod inline;
mod memory;
mod scalar_entry;
pub mod statements;
mod strip;
mod writer;
