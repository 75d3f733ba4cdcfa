//! What kernels in C and in OpenCL C have in common, and functions of a task in C.
//!
//! A task is `{ from, to, row, slot, len, extents, state }`, where all numbers are `i64`. Each function defines their
//! meaning. `extents` are those of the index space of positions and rows (in row-major order), and `state` is a list of
//! columns.

pub mod accumulate;
pub mod blocks;
pub mod elementwise;
pub mod folded_rows;
pub mod index_space;
pub mod interchanged_reduce;
pub mod lane_code;
pub mod lane_folds;
pub mod loop_nest;
pub mod nontemporal;
pub mod parallel;
pub mod permute;
pub mod prefetch;
pub mod reduce;
pub mod row_lanes;
pub mod row_selections;
pub mod scan;
pub mod scan_down;
pub mod selecting_lanes;
pub mod strip;
pub mod strip_choice;
pub mod strip_rows;
pub mod tiled_reduce;
pub mod transposed;
pub mod unswitch;
pub mod way_choice;
pub mod ways;
