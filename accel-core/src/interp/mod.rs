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
//!   wrong is an [`Error`] that names the operation and its source line.
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

use crate::ast::{Program, conforms};
use crate::backend::{Backend, Executable};
use crate::error::{Error, Result};
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
        if !conforms(argument, &self.arg) {
            return Err(Error::Type {
                op: "argument of the program".into(),
                expected: self.arg.to_string(),
                found: describe(argument),
            });
        }
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

/// The type of host arrays, for messages; inconsistent columns are told.
fn describe(a: &ArrayTuple) -> String {
    match a {
        ArrayTuple::Unit => "()".into(),
        ArrayTuple::Pair(p) => format!("({}, {})", describe(&p.0), describe(&p.1)),
        ArrayTuple::Array(a) => {
            let columns: Vec<_> = a.columns.iter().map(|c| c.ty().to_string()).collect();
            let bad = a.columns.iter().find(|c| c.len() != a.size());
            let lengths = bad.map(|c| format!(" with {} elements in a column", c.len())).unwrap_or_default();
            format!("array of shape {:?} and scalars [{}]{lengths}", a.extents, columns.join(", "))
        }
    }
}
