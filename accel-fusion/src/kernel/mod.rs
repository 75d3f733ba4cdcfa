//! The kernel program: erased, in single-assignment form, with few kinds of statements. It is what code is generated from.
//!
//! Arrays are structures of columns; extents are known when a program runs. Statements are loops over memory (`Loop`, `Reduce`,
//! `Scan`, `Permute`), control flow (`If`, `While`) and names for the same memory (`Reshape`). Scalar code is a list of
//! instructions over registers with structured branches and loops; it may read any array that is defined before it.

pub(crate) mod builder;
pub use builder::moved;
pub(crate) mod contraction;
mod eval;
mod ir;
mod lex;
pub mod machine;
mod names;
pub(crate) mod only;
mod operators;
mod parse;
mod print;
mod stats;
mod uses;
mod verify;
mod walk;

pub use contraction::{Computed, Contraction, Operand, Role};
pub use eval::evaluate;
pub use ir::*;
pub use parse::parse;
pub use stats::{Formula, Stats};
pub(crate) use uses::is_permutation;
pub use uses::{arrays_mentioned, arrays_read, has_loop};
pub use verify::{Verified, verify};
pub use walk::{walk, walk_mut};
