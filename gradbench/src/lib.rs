//! A tool of [GradBench](https://github.com/gradbench/gradbench): answers its evals with programs in the array language.
//!
//! An eval is another process. It sends one JSON message a line, first the name of the module it wants, then functions of that
//! module with their inputs; the tool answers each message with one line: the function's value and how long each run took.
//!
//! - [`evals`]: the programs, one module for each eval
//! - [`protocol`]: messages and answers
//! - [`session`]: who answers what
//! - [`timing`]: how often a function is run, and for how long
#![forbid(unsafe_code)]

pub mod evals;
pub mod protocol;
pub mod session;
pub mod timing;
