//! Transformations of typed trees that several crates need. They are outside the trusted module.

pub mod canonical_key;
mod close;
mod count;
mod nothing;
mod operations;
mod rename;
mod rules;
mod stages;
mod tangent;
mod uses;

use crate::ast::{Program, lint};
use crate::error::Result;
use crate::surface::graph::is_recording;

pub use close::{aclose, close};
pub use count::{Counts, count};
pub use nothing::{no_value, nothing};
pub use operations::operations;
pub use rename::{
    Variables, rename, rename_acc, rename_arrays, rename_arrays_of_custom, rename_custom, rename_custom_exp,
};
pub use rules::{first_rule, with_dependences_of_rules};
pub use stages::stages;
pub use tangent::{to_tangent, to_tangents};
pub use uses::{array_uses, arrays_of_code, uses};

/// Ends a stage of the compiler: prints the program if `ACCEL_DUMP` names the stage (see [`crate::print::dump`]), and
/// checks it in debug builds. While another program is recorded, it is not checked: if that one uses it, it is a part of it, and is checked
/// with it. Otherwise, functions in functions would be checked as often as they are deep.
///
/// # Errors
/// The program is not well typed: a bug in the stage, not a mistake of the user.
pub fn finished(stage: &str, p: &Program) -> Result<()> {
    crate::print::dump(stage, p);
    if cfg!(debug_assertions) && !is_recording() { lint(p) } else { Ok(()) }
}
