//! Sparse Jacobians: patterns, colourings, and the products that determine all entries.

mod colouring;
mod jacobian;
mod numbers;
mod pattern;

pub use jacobian::{Batched, SparseJacobian, SparseMatrix, sparse_hessian, sparse_jacobian, sparse_jacobian_on};
pub use pattern::SparsePattern;
