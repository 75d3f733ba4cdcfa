//! Transformations of typed programs that make them smaller and faster, and their translation to kernel programs. They know
//! nothing of derivatives or backends.
#![forbid(unsafe_code)]

pub mod kernel;
mod lower;
pub mod optimize;
pub mod simplify;
pub mod strip;

pub use lower::lower;
pub use optimize::optimize;
pub use simplify::{Options, Rule, Stats, simplified, simplify, simplify_with};
