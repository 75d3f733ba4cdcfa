//! The schedules of reductions side by side: NOTE [Interchanged reductions] in `shared/interchanged_reduce.rs`, and NOTE [Rows
//! across] in `shared/reduce.rs`.

use super::edit::Why;
use super::ir::Nest;
use super::lower;
use super::schedule::apply;
use super::verify::verify;
use accel_fusion::kernel::{ArrayId, Program, Reduction};

/// The transformations for rows that are columns in memory. Several elements are combined with an accumulated value while it is
/// in a register.
pub const COLUMNS: &str = "interchange j\nsplit k 4 peel k0 k1 rest\ninterchange k1\nhold k1\nunroll k1";

/// Those for a few rows, whose accumulated values all stay in registers: the rows take each step together.
pub const ACROSS: &str = "interchange j";

/// The nest of a reduction of neighbouring rows, which the verifier has accepted.
///
/// # Errors
/// A transformation of the schedule does not apply.
pub fn side_by_side(
    program: &Program,
    to: ArrayId,
    outer: usize,
    rows: &Reduction,
    schedule: &str,
) -> Result<Nest, Why> {
    let (nest, names) = lower::side_by_side::side_by_side(program, to, outer, rows);
    let nest = apply(&nest, &names, schedule)?;
    verify(&nest).map_err(Why)?;
    Ok(nest)
}
