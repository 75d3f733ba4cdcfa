//! Differentiation of scalar code: label and primal pass, dual pass, forward mode, and duals of whole functions.

pub mod branches;
pub mod code;
mod custom;
pub mod directional;
pub mod dual;
pub mod emissions;
pub mod forward;
pub mod function;
pub mod gradient;
pub mod lists;
pub mod loops;
pub mod primal;
pub mod state;
