//! Forward and reverse differentiation of ordinary generic Rust code, with fork-join parallelism.
//!
//! Code that is generic in its numbers, with the trait [`Real`], has derivatives. [`grad`], [`vjp`] and [`hessian`] run it
//! with numbers that record what happens ([`Rev`]), and [`jvp`] with numbers that carry tangents ([`Dual`]):
//!
//! ```
//! use accel_dual::{Real, grad, join, vjp};
//!
//! fn distance<T: Real>(a: [T; 2], b: [T; 2]) -> T {
//!     let (x, y) = (b[0] - a[0], b[1] - a[1]);
//!     (x * x + y * y).sqrt()
//! }
//!
//! # fn main() -> Result<(), accel_dual::Error> {
//! assert_eq!(distance([0.0, 0.0], [3.0, 4.0]), 5.0);
//! let (by_a, by_b) = grad(|(a, b)| distance(a, b), &([0.0, 0.0], [0.0, 4.0]))?;
//! assert_eq!((by_a, by_b), ([0.0, -1.0], [0.0, 1.0]));
//!
//! // In parallel, with a parallel reverse pass.
//! let (y, pullback) = vjp(|(x, y)| join(|| x * y, || x.sin()), (2.0, 3.0))?;
//! assert_eq!(y, (6.0, 2.0f64.sin()));
//! assert_eq!(pullback.call(&(1.0, 0.0))?, (3.0, 2.0));
//! # Ok(())
//! # }
//! ```
//!
//! | for | there are |
//! | --- | --- |
//! | reverse mode | [`grad`], [`value_and_grad`], [`vjp`], [`jacobian`]; [`Settings`] for a deterministic mode |
//! | forward mode | [`jvp`], [`jacobian_columns`] |
//! | second derivatives | [`hessian`]; `Dual<Rev>` and `Rev<Dual>` in general |
//! | structures | `#[derive(Differentiable)]` |
//! | parallel parts | [`join`], [`par_map`] |
//! | long loops | [`checkpoint`], [`TapeSize`], [`release_memory`] |
//! | derivatives of your own | [`custom`] |
//!
//! # How it works
//!
//! The implementation follows T. Smeding and M. Vákár, *Parallel dual-numbers reverse AD* (2025), sections 10 and 12. A
//! program is a tree of *jobs*, each of which runs in sequence and has a tape: a vector of nodes with two partial derivatives
//! and the places of two operands. The reverse pass goes through each tape once, backwards. Where the program forked, jobs
//! run in parallel. The cost of a gradient is at most a constant times the cost of the program plus the size of its input.
//!
//! The module `tape` of the source has the details: how jobs use each other's numbers without atomic operations, and how
//! numbers that moved between parallel jobs are found.
#![deny(unsafe_code)]

mod checkpoint;
mod custom;
mod differentiable;
mod dual;
mod error;
mod fork;
mod forward;
mod numbers;
mod real;
mod record;
mod rev;
mod reverse;
mod rules;
mod strong;
mod tape;

pub use accel_derive::Differentiable;
pub use checkpoint::{Checkpoint, checkpoint};
pub use custom::custom;
pub use differentiable::{Differentiable, Mismatch};
pub use dual::Dual;
pub use error::{Error, Result};
pub use fork::{join, par_map};
pub use forward::{Tangents, jacobian_columns, jvp};
pub use num_traits;
pub use real::Real;
pub use record::TapeSize;
pub use rev::Rev;
pub use reverse::{Pullback, Second, grad, hessian, jacobian, value_and_grad, vjp};
pub use tape::base::Base;
pub use tape::pool::release_memory;
pub use tape::recorder::Settings;
