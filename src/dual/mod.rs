//! Derivatives of ordinary Rust code, in forward and reverse mode, and array programs inside of it.
//!
//! This is the crate `accel-dual`, with [`lift`] in addition: an array program becomes one node of the tape. The chapter
//! "Ordinary Rust code" of the book is an introduction.

mod lift;

#[doc(inline)]
pub use accel_dual::*;
pub use lift::{Lifted, Numbers, lift, lift_on};
