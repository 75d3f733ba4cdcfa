//! Traces that keep only floating-point numbers: arrays dissolve into their elements.
//!
//! ```text
//! typed tree --record: code, arrays--> tape of numbers --reverse, rebuild, show--> adjoints, a program, text
//! ```
//!
//! These traces are as long as the run; they are for teaching, and an oracle for everything else: nothing here uses the
//! interpreter's operations, a backend or the derivatives of `accel-ad`.

mod arrays;
mod code;
mod derivatives;
mod rebuild;
mod reverse;
mod show;
pub mod tape;

pub use arrays::record;
pub use rebuild::rebuild;
pub use reverse::{Resolved, reverse};
pub use show::{dot, print, stats};
