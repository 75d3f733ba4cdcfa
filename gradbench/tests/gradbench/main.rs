//! The tool as GradBench talks to it.

mod evals;
mod messages;
mod random_messages;
mod reference;
mod support;
