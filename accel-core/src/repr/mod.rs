//! The untyped representation of types, scalars, primitive functions and arrays.
//!
//! Everything here is plain data without type parameters. The typed tree ([`crate::ast`]) erases to it, the interpreter
//! computes with it, and host arrays are stored in it.

pub mod agreement;
pub mod array;
pub mod eval;
pub mod foreign;
pub mod op;
pub mod order;
pub mod scalar;
pub mod tree;
mod two;
pub mod ty;
pub mod view;

pub use agreement::Agreement;
pub use array::{
    ArrayTuple, Column, ColumnElt, ColumnPart, ColumnView, Columns, MAX_EXTENT, MAX_SIZE, RawArray, RawExtents,
    checked_size,
};
pub use foreign::{Call, Foreign};
pub use scalar::{Scalar, ScalarType, Scalars};
pub use two::Two;
pub use ty::RawTy;
pub use view::{View, ViewMut, Views, ViewsMut};
