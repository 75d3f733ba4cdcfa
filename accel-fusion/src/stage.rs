//! What follows every pass over kernel programs: a dump if `ACCEL_DUMP` names the pass, and the verifier.

use crate::kernel::{Program, Verified};
use accel_core::error::Result;
use accel_core::print;

/// A program that a pass has made, if it is well formed.
pub fn stage(pass: &str, program: Program) -> Result<Verified<Program>> {
    print::dump_with(pass, || program.to_string());
    Verified::new(program)
}
