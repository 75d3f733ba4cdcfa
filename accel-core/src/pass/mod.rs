//! Transformations of typed trees that several parts of the compiler need. They are outside the trusted module.

mod close;
mod count;
mod rename;

use crate::ast::{Program, lint};
use crate::error::Result;

pub use close::{aclose, close};
pub use count::{Counts, count};
pub use rename::{Variables, rename, rename_acc, rename_arrays};

/// What every stage of the compiler does with its result: prints it if `ACCEL_DUMP` names the stage (see
/// [`crate::print::dump`]), and checks it in debug builds.
///
/// # Errors
/// A program that is not well-typed, which is a mistake of the stage and not of the user.
pub fn finished(stage: &str, p: &Program) -> Result<()> {
    crate::print::dump(stage, p);
    if cfg!(debug_assertions) { lint(p) } else { Ok(()) }
}
