//! Rewrites of scalar functions.

pub mod cheap_branches;
pub mod few_steps;
pub mod recomputation;
pub mod scalar_cleanup;
pub mod selections;
