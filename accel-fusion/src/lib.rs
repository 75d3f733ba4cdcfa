//! The optimiser: simplifies typed programs, lowers them to kernel programs, and optimises these. It knows nothing of
//! derivatives or backends.
#![forbid(unsafe_code)]

mod checks;
mod evaluator;
pub mod kernel;
mod lower;
pub mod optimize;
pub mod pipeline;
mod report;
mod separate_elements;
pub mod simplify;
mod stage;
mod stored;
pub mod strip;
mod validation;
mod words;

pub use evaluator::{KernelEvaluator, OptimizedEvaluator};
pub use simplify::{Options, Rule, Stats, simplified, simplify, simplify_with};
