//! Forward and reverse differentiation of ordinary generic Rust code.
#![forbid(unsafe_code)]

mod checkpoint;
mod custom;
mod differentiable;
mod dual;
mod error;
mod fork;
mod forward;
mod numbers;
mod real;
mod record;
mod rev;
mod reverse;
mod rules;
mod tape;

pub use accel_derive::Differentiable;
pub use checkpoint::{Checkpoint, checkpoint};
pub use custom::custom;
pub use differentiable::{Differentiable, Mismatch};
pub use dual::Dual;
pub use error::{Error, Result};
pub use fork::{join, par_map};
pub use forward::{Tangents, jacobian_columns, jvp};
pub use num_traits;
pub use real::Real;
pub use record::TapeSize;
pub use rev::Rev;
pub use reverse::{Pullback, Second, grad, hessian, jacobian, value_and_grad, vjp};
pub use tape::base::Base;
pub use tape::pool::release_memory;
pub use tape::recorder::Settings;
