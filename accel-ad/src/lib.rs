//! Differentiation of accel programs by source transformation.
#![forbid(unsafe_code)]

mod api;
mod array;
mod program;
mod rules;
mod scalar;
mod terms;

pub use api::{grad, gradient, jvp, value_and_grad, value_and_gradient, vjp};
pub use program::{Reverse, forward_mode, reverse_mode};
pub use scalar::gradient::Gradient;
