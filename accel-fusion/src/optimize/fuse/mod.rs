//! Producers into consumers: the pass over the statements, and the rewrites of single statements in it.

pub mod accumulators;
pub mod common_statements;
pub mod decisions;
pub mod fused_program;
pub mod horizontal_fusion;
pub mod moved_elements;
pub mod reshapes;
pub mod rewrites;
pub mod scatter;
pub mod split_columns;
pub mod vertical_fusion;
