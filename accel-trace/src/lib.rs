//! Tracing for accel.
#![forbid(unsafe_code)]

mod adjoints;
mod closed;
mod contribution;
mod elements;
mod kernel;
mod key;
mod plan;
mod reads;
mod rebuild;
mod record;
mod reverse;
mod rows;
mod show;
mod statistics;
mod step;
mod trace;

pub use adjoints::{Adjoints, Work};
pub use statistics::Stats;
pub use trace::{Keep, Trace, trace_on};
