//! The types that users write: elements, shapes, and arrays as arguments and results.
//!
//! Each of them has a representation type ([`crate::ast::ty::Repr`]), which consists of unit, scalars and pairs. Tuples
//! and records become pairs nested to the left.

pub mod arrays;
pub mod elt;
mod fixed_sizes;
pub mod num;
mod numbers;
pub mod shape;
mod tangent;
mod tuples;

pub use arrays::{Arrays, Inputs, Listed, Outputs, Rows};
pub use elt::Elt;
pub use num::{Bits, Floating, Integral, Num, Primitive};
pub use numbers::Numbers;
pub use shape::{Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Extents, RankNat, Shape, Snoc, ToExtents, Z};
pub use tangent::Tangent;
