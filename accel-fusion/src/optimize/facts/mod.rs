//! What is known of extents, indices and sums, and proofs about them.

pub mod edges;
pub mod known_extents;
pub mod poly;
pub mod shape_analysis;
pub mod stored_assumptions;
pub mod strided_product;
pub mod value_numbers;
