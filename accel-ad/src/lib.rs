//! Differentiation of accel programs by source transformation.
#![forbid(unsafe_code)]

mod array;
mod program;
mod rules;
mod scalar;
mod terms;

pub use program::{Reverse, forward_mode, reverse_mode};
pub use scalar::gradient::Gradient;
