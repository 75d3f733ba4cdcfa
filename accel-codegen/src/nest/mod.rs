//! Loop nests: the representation of kernels between the kernel program and the text of C and OpenCL C.
//!
//! ```text
//! operation --lower--> naive nest --schedule: transformations--> nest --write--> C, OpenCL C
//! ```
//!
//! A nest has loops, scalar code, and numbers in buffers ([`ir`]). Its text form is in [`mod@print`] and [`parse`]; [`verify`]
//! checks what the writer relies on, and [`divided`] that tasks, groups and items do all of the work and none of it twice;
//! [`eval`] says what a nest means, and finds [`races`]. [Transformations](transform) are equations: each
//! makes an equivalent nest, or says why it does not apply. [`schedule`] is the lists of transformations for each kind of
//! operation.
//!
//! NOTE [What is no nest]: sums in strips, tiled sums and reductions of rows side by side, in columns or across, are nests. Other
//! kernels are written as text directly:
//! - Products of matrices call a library, which copies blocks of its operands for caches (`c/gemm.rs`).
//! - Scans with look-back and permutes with locks wait for other groups or threads at run time. The iterations of a nest do not
//!   know each other.
//! - Reductions of one row in lanes begin with other numbers than a neutral element and count booleans in bytes (`row_lanes.rs`), or
//!   select elements (`selecting_lanes.rs`). Those of rows in the lanes of a strip (`lane_folds.rs`) have any scalar code: branches
//!   that read the strip's memory, where nests have loads, and on devices functions of whole vectors.
//! - The walk over strips, and elementwise loops: there is nothing to choose but the order of positions. How many innermost dimensions
//!   are one loop is known only when the program runs: NOTE [Merged dimensions] in `analysis/merged_dimensions.rs`.
//! - Kernels for groups of work-items could be nests; `tests/codegen/nests/product_of_groups.nest` is one. Their text stays until the
//!   nests have been measured on a graphics card.

pub mod applied;
pub mod divided;
pub mod edit;
#[cfg(feature = "evaluation")]
pub mod eval;
pub mod independent;
pub mod ir;
pub mod lower;
#[cfg(feature = "evaluation")]
pub mod parse;
pub mod print;
#[cfg(feature = "evaluation")]
pub mod races;
pub mod schedule;
pub mod side_by_side;
pub mod strip_sums;
pub mod tiled_sums;
pub mod transform;
pub mod verify;
