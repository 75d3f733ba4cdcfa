//! The reference interpreter. It defines the meaning of the language; it is simple, sequential and fully checked.
//!
//! A program is translated once and can then be run any number of times:
//!
//! ```text
//! typed tree --compile, flatten--> plan: array steps over slots, scalar code over registers --run--> arrays
//! ```
//!
//! - `flatten` turns a scalar function into instructions over scalar registers. Tuples dissolve into their leaves,
//!   every `let` is computed once, and a jump skips a branch that is not taken. Elements are computed without the
//!   typed tree.
//! - `compile` turns an array computation into a list of steps. Tuples of arrays dissolve likewise. For each array the
//!   last step that uses it is known, so the array can be freed there.
//! - `run` executes the steps, `ops` the individual array operations. Every index and every extent is checked here. A
//!   failure is an [`Error`](crate::error::Error) that names the operation and its source line.
//!
//! [`crate::dependence`] runs a plan on sets of numbers instead of values: the pattern of a Jacobian.
//!
//! The evaluation order matters for floating-point results. Folds and scans process each row one element after another,
//! from the left starting with `z` (right scans: from the right, starting with `z`). `permute` combines elements in
//! row-major order of its source.

pub(crate) mod code;
mod compile;
pub(crate) mod extents;
mod flatten;
pub(crate) mod lists;
pub(crate) mod ops;
pub(crate) mod place;
pub(crate) mod plan;
mod run;
pub(crate) mod slots;
mod watch;

use crate::ast::Program;
use crate::backend::{Backend, Executable, check_argument};
use crate::error::{Error, Result};
use crate::nan::{Appearance, Finding};
use crate::repr::{ArrayTuple, RawTy};
pub(crate) use place::Place;
use plan::Plan;

/// The interpreter as a backend, which is always available.
#[derive(Clone, Copy, Default, Debug)]
pub struct Interpreter;

impl Backend for Interpreter {
    fn name(&self) -> &'static str {
        "interp"
    }
    fn compile(&self, program: &Program) -> Result<Box<dyn Executable>> {
        Ok(Box::new(Interpreted::new(program)))
    }
    fn configuration(&self) -> Option<&str> {
        Some(self.name())
    }
}

/// A program that is ready for interpretation.
pub struct Interpreted {
    pub(crate) arg: RawTy,
    pub(crate) plan: Plan,
}

impl Interpreted {
    /// Translates a program.
    pub fn new(program: &Program) -> Self {
        Interpreted { arg: program.arg().clone(), plan: compile::compile(program) }
    }

    /// Computes the result and the peak memory: the largest number of bytes that the arrays of the program took at any
    /// time, including its argument; arrays that share their elements are counted once.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_measured(&self, argument: &ArrayTuple) -> Result<(ArrayTuple, usize)> {
        check_argument(argument, &self.arg)?;
        let (result, peak) = run::run(&self.plan, argument)?;
        tracing::debug!(peak_bytes = peak, "interpreted");
        Ok((result, peak))
    }

    /// The errors of all operations that fail, in a run that goes on after each of them.
    ///
    /// NOTE [Which error a run has]: the interpreter executes the operations in the order of the program, up to the first error. A
    /// backend executes them in another order, executes some several times or not at all, and an operation that it fuses with a
    /// later one gets its extents where that one gets them. So of several errors it reports any, but only one that the interpreter
    /// would have if it went on: an operation does not fail because it reads the result of a failed one, but it fails if it has
    /// wrong extents from there. If all that is wrong is not needed, a backend has no error. Within one operation, any element
    /// can be the one that is reported, and an index is that of the array that the backend reads: that of a `slice` has all dimensions.
    ///
    /// # Errors
    /// The argument has another type than that of the program.
    pub fn errors(&self, argument: &ArrayTuple) -> Result<Vec<Error>> {
        check_argument(argument, &self.arg)?;
        run::errors(&self.plan, argument)
    }

    /// Computes the result and where NaN and infinity appear first. The run ends without a result where NaN appears, or
    /// where it fails after an infinity has appeared.
    ///
    /// # Errors
    /// As [`Executable::run`], if neither has appeared before.
    pub(crate) fn run_watched(&self, argument: &ArrayTuple) -> Result<(Option<Finding>, Option<ArrayTuple>)> {
        check_argument(argument, &self.arg)?;
        run::run_watched(&self.plan, argument)
    }

    /// Where a derivative is a convention first: NOTE [Kinks in a run].
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub(crate) fn first_kink(&self, argument: &ArrayTuple) -> Result<Option<Appearance>> {
        check_argument(argument, &self.arg)?;
        run::first_kink(&self.plan, argument)
    }
}

impl Executable for Interpreted {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        Ok(self.run_measured(argument)?.0)
    }
}
