//! Which statements the host program does itself.

use crate::analysis::cost::cost;
use accel_fusion::kernel::{Block, Op, Program};

/// What costs more is a kernel: it takes longer than tables do, and compilers need more than twice as long for a function of twice the size.
pub const MOST: usize = 5_000;

/// Whether a statement is so small that the host program does it itself. One of numbers does all that it can.
pub fn is_inline(op: &Op, numbers: bool) -> bool {
    let most = if numbers { MOST } else { 50 };
    matches!(op, Op::Loop { extents, body, .. } if extents.results.is_empty() && cost(&body.instrs) <= most)
}

/// Whether a program consists of scalar code only.
pub fn are_all_numbers(program: &Program) -> bool {
    program.arrays.iter().all(|a| a.rank == 0) && is_scalar_code(&program.body)
}

fn is_scalar_code(b: &Block) -> bool {
    b.stmts.iter().all(|s| match &s.op {
        Op::Loop { .. } => is_inline(&s.op, true),
        Op::If { .. } | Op::While { .. } => s.op.blocks().into_iter().all(is_scalar_code),
        _ => false,
    })
}
