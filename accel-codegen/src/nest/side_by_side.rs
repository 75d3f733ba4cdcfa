//! The schedules of reductions side by side: NOTE [Interchanged reductions] in `shared/interchanged_reduce.rs`, and NOTE [Rows
//! across] in `shared/reduce.rs`.

use super::edit::Why;
use super::ir::Nest;
use super::lower;
use super::schedule::apply;
use accel_fusion::kernel::{ArrayId, Program, Reduction};

/// The transformations. Several elements are combined with an accumulated value while it is in a register.
const COLUMNS: &str = "interchange j\nsplit k 4 peel k0 k1 rest\ninterchange k1\nhold k1\nunroll k1";

/// All rows take each step together.
const ACROSS: &str = "interchange j";

/// The nest of a reduction of neighbouring rows that are columns in memory.
///
/// # Errors
/// A transformation does not apply.
pub fn side_by_side(program: &Program, to: ArrayId, outer: usize, rows: &Reduction) -> Result<Nest, Why> {
    let (nest, names) = lower::side_by_side::side_by_side(program, to, outer, rows);
    apply(&nest, &names, COLUMNS)
}

/// The nest of a reduction of a few neighbouring rows, whose accumulated values stay in registers.
///
/// # Errors
/// The transformation does not apply.
pub fn across(program: &Program, to: ArrayId, outer: usize, rows: &Reduction) -> Result<Nest, Why> {
    let (nest, names) = lower::side_by_side::side_by_side(program, to, outer, rows);
    apply(&nest, &names, ACROSS)
}
