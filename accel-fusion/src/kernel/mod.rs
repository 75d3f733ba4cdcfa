//! Kernel programs: the erased form of a program, in single assignment, with few kinds of statements. Backends generate
//! code from it.
//!
//! An array is a structure of columns; its extents are known only at run time. A statement is a loop over memory
//! (`Loop`, `Accumulate`, `Reduce`, `Scan`, `Permute`), control flow (`If`, `While`) or a new shape for the same memory
//! (`Reshape`). A scalar function is a list of instructions over registers, with structured branches and loops. It can
//! read every array that is defined before it.

pub(crate) mod builder;
pub use builder::renamed;
pub(crate) mod contraction;
mod cost;
pub(crate) mod dead_code;
mod effects;
mod eval;
mod ids;
mod ir;
mod lane_fn;
mod last_uses;
mod lex;
mod lists;
pub(crate) mod lookup;
mod operators;
mod parse;
mod print;
pub mod scalar_evaluation;
mod stats;
pub mod tape;
mod uses;
mod verify;
mod walk;

pub use contraction::{Computed, Contraction, Operand, Role};
pub use effects::Check;
pub(crate) use effects::divides_integers;
pub use eval::{Arrays, Executor, evaluate};
pub use ids::{ArrayId, Reg, SiteId};
pub use index_vec::{Idx, IndexVec, define_index_type, index_vec};
pub use ir::*;
pub(crate) use lane_fn::depth;
pub use lane_fn::{LaneFn, runs};
pub use parse::{Parser, parse};
pub use print::{constant, with_inner, without_inner as printed};
pub(crate) use stats::width;
pub use stats::{Formula, Stats};
pub(crate) use uses::is_permutation;
pub use uses::{arrays_mentioned, arrays_read, follows};
pub use verify::{Verified, verify};
pub(crate) use walk::visit;
pub use walk::{visits, walk, walk_mut};
