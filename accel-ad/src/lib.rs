//! Differentiation of accel programs by source transformation, from typed programs to typed programs.
//!
//! [`grad`], [`value_and_grad`], [`vjp`] and [`jvp`] differentiate whole programs; [`jacobian`], [`hessian`] and [`hvp`] apply them.
//! [`gradient`], [`derivative`] and the two with the value differentiate scalar functions inside a program. The crate `accel` re-exports all of them.
//! [`custom_vjp`] and [`custom_jvp`] give functions the derivatives that users write.
//! [`reverse_mode`] and [`forward_mode`] do the same on [`Program`](accel_core::ast::Program)s, for backends and tools.
//!
//! Reverse mode has three passes, for scalar code and for arrays alike: *label* names every intermediate value,
//! *primal* computes these values, and *dual* walks through them backwards and adds up the adjoints of each (after
//! chapters 3 and 4 of the thesis cited in the modules). Forward mode is a single pass. Both modes take the derivatives
//! of the primitive functions from the same table. The glossary of the book explains the terms.
#![forbid(unsafe_code)]

mod activity;
mod api;
mod array;
mod builders;
mod custom;
mod custom_functions;
mod forms;
mod linear_maps;
mod matrices;
mod operators;
mod program;
mod rules;
mod scalar;
mod sparse_tangents;
mod used;

pub use api::{
    Differentiable, OneNumber, derivative, grad, gradient, hessian, hvp, jacobian, jacobian_forward, jacobian_reverse,
    jvp, value_and_derivative, value_and_grad, value_and_grad_with_aux, value_and_gradient, vjp,
};
pub use custom_functions::{CustomFunction, custom_jvp, custom_vjp};
pub use matrices::Coordinates;
pub use program::{Reverse, forward_mode, reverse_mode};
pub use scalar::gradient::Gradient;
