//! Which statements the host program does itself.

use crate::analysis::cost::cost;
use accel_fusion::kernel::{Op, Program};

/// What costs more is a kernel: it takes longer than tables do, and compilers need more than twice as long for a function of twice the size.
pub const MOST: usize = 5_000;

/// Whether a statement is so small that the host program does it itself. One of numbers does all that it can.
pub fn is_inline(op: &Op, numbers: bool) -> bool {
    let most = if numbers { MOST } else { 50 };
    matches!(op, Op::Loop { extents, body, .. } if extents.results.is_empty() && cost(&body.instrs) <= most)
}

/// Whether a program consists of scalar code only.
pub fn are_all_numbers(program: &Program) -> bool {
    let is_scalar_code = |op: &Op| matches!(op, Op::If { .. } | Op::While { .. }) || is_inline(op, true);
    program.arrays.iter().all(|a| a.rank == 0) && program.body.walk().all(|s| is_scalar_code(&s.op))
}
