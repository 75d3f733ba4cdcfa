//! Which arrays are stored, in which order of their dimensions, and under which numbers.

pub mod checked_reads;
pub mod compact;
pub mod fewer_indices;
pub mod functions_of_arrays;
pub mod merged_dimensions;
pub mod recomputed_operands;
pub mod scan_copies;
pub mod scans_down;
pub mod transposed_operands;
