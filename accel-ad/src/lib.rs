//! Differentiation of accel programs by source transformation.
#![forbid(unsafe_code)]

mod rules;
mod scalar;
mod terms;
