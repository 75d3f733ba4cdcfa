//! What a backend is: it compiles a closed program once and runs it many times.

use crate::ast::Program;
use crate::error::Result;
use crate::repr::ArrayTuple;

/// Something that can run programs.
pub trait Backend: Send + Sync {
    /// The name users choose it by.
    fn name(&self) -> &'static str;
    /// Prepares a program.
    ///
    /// # Errors
    /// Anything that keeps the program from being compiled.
    fn compile(&self, program: &Program) -> Result<Box<dyn Executable>>;
}

/// A compiled program; may be run from several threads at once.
pub trait Executable: Send + Sync {
    /// Computes the result for an argument of the program's type.
    ///
    /// # Errors
    /// An argument of another type, and everything that is checked at run time: indices, extents, division by zero.
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple>;
}
