//! Estimates of what scalar code costs, in simple operations. They decide what is worth running in parallel.

use accel_core::ast::deep;
use accel_core::repr::op::{Float1, Op1, Op2};
use accel_fusion::kernel::Instr;

/// A task takes at least about this many simple operations: ten microseconds or more.
pub const TASK: usize = 1 << 15;
/// What takes fewer simple operations than this is one task.
pub const SMALL: usize = 4 * TASK;

/// Whatever is more is not told apart: loops in loops take any time, and it is multiplied with sizes.
const MOST: usize = 1 << 30;

/// About how long instructions take, in simple operations.
pub fn cost(instrs: &[Instr]) -> usize {
    let of = |i: &Instr| match i {
        Instr::Const(..) | Instr::Extent(..) => 0,
        Instr::Op1(_, Op1::Float(Float1::Sqrt | Float1::Recip), _) => 4,
        Instr::Op1(_, Op1::Float(_), _) | Instr::Op2(_, Op2::Float(_), ..) => 10,
        Instr::Op1(..) | Instr::Op2(..) => 1,
        Instr::Read { to, .. } => 1 + to.len(),
        Instr::If { then, otherwise, .. } => 1 + cost(then).max(cost(otherwise)),
        // How often is not known.
        Instr::While { cond: c, body, .. } => 20 * (1 + cost(c) + cost(body)),
    };
    MOST.min(1 + deep(|| instrs.iter().map(of).sum::<usize>()))
}
