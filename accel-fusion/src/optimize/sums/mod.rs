//! Sums of sums, of products, of permutations and of loops.

pub mod loop_sums;
pub mod permute_sums;
pub mod product_sums;
pub mod scattered_products;
pub mod selected_terms;
pub mod sum_interchange;
