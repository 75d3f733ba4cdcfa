//! Differentiation of accel programs by source transformation.
#![forbid(unsafe_code)]

mod array;
mod rules;
mod scalar;
mod terms;
