//! Transformations of typed programs that make them smaller and faster; they know nothing of derivatives or backends.
#![forbid(unsafe_code)]

pub mod simplify;

pub use simplify::{Options, Rule, Stats, simplified, simplified_derivative, simplify, simplify_with};
