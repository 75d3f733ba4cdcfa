//! The steps after every pass over kernel programs: a dump if `ACCEL_DUMP` names the pass, and the verifier.

use crate::kernel::{Program, Verified};
use accel_core::error::Result;
use accel_core::print;

/// Dumps and verifies the result of a pass.
pub fn stage(pass: &str, program: Program) -> Result<Verified<Program>> {
    print::dump_with(pass, || program.to_string());
    Verified::new(program)
}
