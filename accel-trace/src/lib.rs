//! Tracing for accel.
#![forbid(unsafe_code)]

mod adjoints;
mod closed;
mod contribution;
mod elements;
mod kernel;
mod key;
mod label;
mod plan;
mod reads;
mod rebuild;
mod record;
mod reverse;
mod rows;
mod scalars;
mod show;
mod statistics;
mod step;
mod trace;

pub use adjoints::{Adjoints, Work};
pub use statistics::Stats;
pub use trace::{Keep, RawTrace, Trace, trace_on};
