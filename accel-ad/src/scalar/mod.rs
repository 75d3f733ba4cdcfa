//! Differentiation of scalar code: label and primal, dual, forward mode, and functions as a whole.

pub mod branches;
pub mod code;
pub mod dual;
pub mod forward;
pub mod function;
pub mod gradient;
pub mod primal;
