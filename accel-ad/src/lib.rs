//! Differentiation of accel programs by source transformation: a typed program goes in, a typed program comes out.
//!
//! [`grad`], [`value_and_grad`], [`vjp`] and [`jvp`] are for whole programs, [`gradient`] and [`value_and_gradient`] for scalar
//! functions inside one. The crate `accel` exports all of them; [`reverse_mode`] and [`forward_mode`] are the same for
//! backends and tools that work on [`Program`](accel_core::ast::Program)s.
//!
//! Reverse mode has three passes, for scalar code and for arrays alike: *label* names every intermediate value, *primal*
//! computes them, and *dual* walks them backwards and adds up the adjoints of each (after chapters 3 and 4 of the thesis cited
//! in the modules). Forward mode is one pass. Both take the derivatives of the primitive functions from one table.
#![forbid(unsafe_code)]

mod api;
mod array;
mod parts;
mod program;
mod rules;
mod scalar;
mod terms;

pub use api::{grad, gradient, jvp, value_and_grad, value_and_gradient, vjp};
pub use program::{Reverse, forward_mode, reverse_mode};
pub use scalar::gradient::Gradient;
