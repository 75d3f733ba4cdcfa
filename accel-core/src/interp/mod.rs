//! The reference interpreter: the meaning of the language, simple, sequential and checked.
//!
//! A program is translated once and run as often as wanted:
//!
//! ```text
//! typed tree --compile, flatten--> plan: array steps over slots, scalar code over registers --run--> arrays
//! ```
//!
//! - `flatten` turns a scalar function into straight code over scalar registers: tuples dissolve into their leaves, every
//!   `let` is computed once, and a branch that is not taken is jumped over. The typed tree is not looked at per element.
//! - `compile` turns an array computation into a list of steps: tuples of arrays dissolve likewise, and it is known after which
//!   step an array is needed no more, so that it can be freed there.
//! - `run` executes the steps, `ops` the single array operations. Every index and every extent is checked here; what goes
//!   wrong is an [`Error`](crate::error::Error) that names the operation and its source line.
//!
//! Evaluation order, where floating-point results depend on it: folds and scans go through each row one element after another, from the left
//! with `z` first (from the right with `z` last for right scans); `permute` combines in row-major order of its source.

mod code;
mod compile;
mod extents;
mod flatten;
mod ops;
mod plan;
mod run;

use crate::ast::Program;
use crate::backend::{Backend, Executable, check_argument};
use crate::error::Result;
use crate::repr::{ArrayTuple, RawTy};
use plan::Plan;

/// The backend that is always there.
#[derive(Clone, Copy, Default, Debug)]
pub struct Interpreter;

impl Backend for Interpreter {
    fn name(&self) -> &'static str {
        "interp"
    }
    fn compile(&self, program: &Program) -> Result<Box<dyn Executable>> {
        Ok(Box::new(Interpreted::new(program)))
    }
}

/// A program that is ready to be interpreted.
pub struct Interpreted {
    arg: RawTy,
    plan: Plan,
}

impl Interpreted {
    /// Translates a program.
    pub fn new(program: &Program) -> Self {
        Interpreted { arg: program.arg().clone(), plan: compile::compile(program) }
    }

    /// Computes the result, and how many bytes of arrays the program had at most at one time, its argument included and
    /// arrays that share their elements counted once.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_measured(&self, argument: &ArrayTuple) -> Result<(ArrayTuple, usize)> {
        check_argument(argument, &self.arg)?;
        let (result, peak) = run::run(&self.plan, argument)?;
        tracing::debug!(peak_bytes = peak, "interpreted");
        Ok((result, peak))
    }
}

impl Executable for Interpreted {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        Ok(self.run_measured(argument)?.0)
    }
}
