//! Decides which statements the host program executes inline.

use crate::cost_model::{INLINED, INLINED_AMONG_ARRAYS};
use accel_fusion::kernel::{Op, Program};

/// Whether the host program executes a statement inline. A scalar program executes all statements inline that it can.
pub fn is_inline(op: &Op, numbers: bool) -> bool {
    let most = if numbers { INLINED } else { INLINED_AMONG_ARRAYS };
    matches!(op, Op::Loop { extents, body, .. } if extents.results.is_empty() && body.cost() <= most)
}

/// Whether a program is a scalar program.
pub fn are_all_numbers(program: &Program) -> bool {
    let is_scalar_code = |op: &Op| matches!(op, Op::If { .. } | Op::While { .. }) || is_inline(op, true);
    program.arrays.iter().all(|a| a.rank == 0) && program.body.walk().all(|s| is_scalar_code(&s.op))
}
