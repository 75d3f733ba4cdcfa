//! Analyses of kernel programs, before any text is written. Nothing here depends on a dialect.

pub mod fault;
pub mod layout;
pub mod liveness;
pub mod merged_dimensions;
pub mod partition;
pub mod slice;
