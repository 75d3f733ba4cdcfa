//! Tracing: the straight-line program of one run.
//!
//! [`trace`] runs a program once and records the operations on arrays that this run executes. Conditionals on arrays are
//! decided, loops over arrays are unrolled. The [`Trace`] is data: it can be printed, drawn and counted, it is a program
//! again, and it has a reverse pass of its own, which computes the adjoints of all arrays with a name ([`named`]) and
//! runs independent operations in parallel.
//!
//! ```
//! use accel::prelude::*;
//! use accel::trace::{Keep, named, trace};
//!
//! // The square root of a, with as many steps of Newton's method as it takes.
//! let root = afun(|a: Acc<Scalar<f64>>| {
//!     let step = |x: Acc<Scalar<f64>>| named("x", zip_with(|x, a| (x + a / x) * 0.5, x, a));
//!     awhile(|x| (the(x) * the(x) - the(a)).abs().gt(1e-9), step, a)
//! });
//! let (y, t) = trace(&root, &Array::scalar(2.0), Keep::Arrays)?;
//! let adjoints = t.reverse(&Array::scalar(1.0))?;
//! assert!((adjoints.inputs().item() - 0.5 / y.item()).abs() < 1e-9);
//! // What each step contributes: Newton's method forgets where it began.
//! let along: Vec<f64> = adjoints.named::<Scalar<f64>>("x")?.iter().map(|x| x.item()).collect();
//! assert!(along[0].abs() < 1e-3 && along[along.len() - 1] == 1.0);
//! # Ok::<(), Error>(())
//! ```

use crate::choice::default_backend;
use accel_core::afun::AsAfun;
use accel_core::error::Result;
use accel_core::types::{Arrays, Inputs};
pub use accel_trace::{Adjoints, Keep, RawTrace, Stats, Trace, Work, named, trace_on};

/// Runs a program once on the default backend, operation by operation, and records the straight-line program of this run.
/// [`trace_on`] does the same on a backend of your choice: on the interpreter, for example, nothing is compiled.
///
/// # Errors
/// Those of [`run`](crate::run).
pub fn trace<A: Arrays, R: Arrays>(
    prog: impl AsAfun<A, R>,
    inputs: impl Inputs<A>,
    keep: Keep,
) -> Result<(R, Trace<A, R>)> {
    trace_on(default_backend()?, prog, inputs, keep)
}
