//! Differentiation of accel programs by source transformation.
#![forbid(unsafe_code)]
