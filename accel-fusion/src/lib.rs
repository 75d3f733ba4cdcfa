//! Optimisation of accel programs, and their translation to kernel programs.
#![forbid(unsafe_code)]

pub mod kernel;
mod lower;

pub use lower::lower;
