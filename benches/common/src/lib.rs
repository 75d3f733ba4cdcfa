//! What the benchmarks have in common: a workload with its reference ([`case`]), the table of all workloads
//! ([`table`]), and the inputs.

pub mod axpy;
pub mod case;
pub mod data;
pub mod gmm;
pub mod jax;
pub mod product;
pub mod table;
