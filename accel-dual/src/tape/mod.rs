//! The tape of a program: what it did with numbers that depend on its inputs, job by job.
//!
//! - [`node`]: a node, the derivative of one operation
//! - [`recorder`]: the tape of one job while it grows
//! - [`slots`]: the recorder of each thread
//! - [`base`]: the types of values and how each finds its recorder
//! - [`graph`]: the tapes of all jobs of a finished program, and the check of their order
//! - [`sweep`]: the reverse pass
//! - [`pool`]: memory that finished tapes leave to new ones

pub mod base;
pub mod cell;
pub mod graph;
pub mod node;
pub mod pool;
pub mod recorder;
pub mod slots;
pub mod sweep;
