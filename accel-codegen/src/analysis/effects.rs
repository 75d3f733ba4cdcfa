//! What scalar code does besides computing: whether it branches, loops or can fail.

use crate::analysis::fault;
use accel_core::ast::deep;
use accel_fusion::kernel::{Code, Instr, walk};

/// As [`is_branch_free`], but for branches that only compute: compilers turn them into selections.
pub fn is_if_convertible(code: &Code) -> bool {
    fn smooth(code: &Code, instrs: &[Instr], branch: bool) -> bool {
        instrs.iter().all(|i| match i {
            Instr::If { then, otherwise, .. } => deep(|| smooth(code, then, true) && smooth(code, otherwise, true)),
            Instr::Read { .. } => !branch && is_branch_free_instr(code, i),
            _ => is_branch_free_instr(code, i),
        })
    }
    smooth(code, &code.instrs, false)
}

/// Whether code always does the same: no branches, no loops, nothing that can fail.
pub fn is_branch_free(code: &Code) -> bool {
    code.instrs.iter().all(|i| is_branch_free_instr(code, i))
}

fn is_branch_free_instr(code: &Code, i: &Instr) -> bool {
    match i {
        Instr::Const(..) | Instr::Op1(..) | Instr::Extent(..) => true,
        Instr::Op2(_, op, a, _) => fault::division(*op, code.types[*a]).is_none(),
        Instr::Read { inside, index, .. } => *inside || index.is_empty(),
        Instr::If { .. } | Instr::While { .. } => false,
    }
}

/// Whether code always cannot_fail.
pub fn cannot_fail(code: &Code) -> bool {
    walk(&code.instrs).all(|i| match i {
        Instr::Op2(_, op, a, _) => fault::division(*op, code.types[*a]).is_none(),
        Instr::Read { inside, index, .. } => *inside || index.is_empty(),
        _ => true,
    })
}
