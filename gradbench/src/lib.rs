//! A tool of [GradBench](https://github.com/gradbench/gradbench): answers its evals with programs in the array
//! language.
//!
//! An eval is another process. It sends one JSON message per line: first the name of the module that it needs, then
//! functions of that module with their inputs. The tool answers each message with one line: the function's value and
//! the time of each run.
//!
//! - [`evals`]: the programs, one module for each eval
//! - [`module`]: the compiled functions of an eval; [`conversions`]: their data
//! - [`descent`]: gradient descent, for the evals that differentiate through it
//! - [`space`]: vectors in space, for the evals with geometry
//! - [`protocol`]: messages and answers
//! - [`session`]: answers the messages of an eval
//! - [`timing`]: the number of runs of a function, and their times
#![forbid(unsafe_code)]

pub mod conversions;
pub mod descent;
pub mod evals;
pub mod module;
pub mod protocol;
pub mod session;
pub mod space;
pub mod timing;
