//! Parts of index spaces that need less: without edges, in rows, at digits of an index.

pub mod folded_rows;
pub mod index_digits;
pub mod interior;
pub mod row_bounds;
pub mod row_decisions;
pub mod row_selections;
