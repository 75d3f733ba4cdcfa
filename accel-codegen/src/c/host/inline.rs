//! Decides which statements the host program executes inline.

use accel_fusion::kernel::{Op, Program};

/// A statement of a higher cost gets a kernel: it takes longer than the overhead of tables, and C compilers need more
/// than twice as long for a function of twice the size.
pub const MOST: usize = 5_000;

/// Whether the host program executes a statement inline. A scalar program executes all statements inline that it can.
pub fn is_inline(op: &Op, numbers: bool) -> bool {
    let most = if numbers { MOST } else { 50 };
    matches!(op, Op::Loop { extents, body, .. } if extents.results.is_empty() && body.cost() <= most)
}

/// Whether a program is a scalar program.
pub fn are_all_numbers(program: &Program) -> bool {
    let is_scalar_code = |op: &Op| matches!(op, Op::If { .. } | Op::While { .. }) || is_inline(op, true);
    program.arrays.iter().all(|a| a.rank == 0) && program.body.walk().all(|s| is_scalar_code(&s.op))
}
