//! Tracing for accel: the straight-line program of one run, and its reverse pass in parallel tasks.
//!
//! [`trace_on`] runs a typed program once and records a [`Trace`]: conditionals on arrays are decided, loops over arrays
//! are unrolled, tuples dissolve. With [`Keep::Arrays`], each step is an operation on whole arrays; with
//! [`Keep::Scalars`], each step is an operation on numbers. The crate `accel` re-exports all of this as `accel::trace`,
//! with a default backend (feature `trace`).
//!
//! ```text
//!                  +--rebuild--> program, which is optimised, compiled and differentiated like any other
//! program --record--> steps --plan, reverse--> adjoints
//!                  +--show, statistics--> text, graph, numbers
//! ```
//!
//! A step is held as a *kernel*: a closed program from the arrays that it uses to its own. All steps that do the same share one
//! kernel, which the backend compiles once. For the reverse pass, steps whose intermediate arrays nothing else uses
//! form *clusters*. `accel-ad` differentiates their programs, equal ones once. The pass counts, for every cluster on
//! which the result depends, the contributions to its adjoint; the task that delivers the last one resolves the
//! cluster.
//!
//! The method is that of Simon van Hus's thesis, "Maintaining parallelism in reverse-mode AD on functional parallel array
//! languages" (Utrecht), with typed programs, any rank, scans, permutes and several results, and without its counting of
//! uses on which the result does not depend.
//!
//! ```
//! use accel_core::interp::Interpreter;
//! use accel_core::prelude::*;
//! use accel_trace::{Keep, trace_on};
//!
//! let halved = afun(|x: Acc<Scalar<f64>>| awhile(|x| the(x).gt(1.0), |x| map(|x| x * 0.5, x), x));
//! let (y, trace) = trace_on(&Interpreter, &halved, &Array::scalar(5.0), Keep::Arrays)?;
//! assert_eq!((y.item(), trace.stats().steps), (0.625, 4));
//! assert_eq!(trace.reverse(&Array::scalar(1.0))?.inputs().item(), 0.125);
//! # Ok::<(), Error>(())
//! ```
#![forbid(unsafe_code)]

mod adjoints;
mod closed;
mod cluster;
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
mod steps;
mod trace;

pub use accel_core::surface::named;
pub use adjoints::{Adjoints, Work};
pub use statistics::Stats;
pub use trace::{Keep, RawTrace, Trace, trace_on};
