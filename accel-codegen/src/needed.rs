//! What some registers of a code need of its instructions.

use accel_fusion::kernel::{Instr, Reg};
use std::collections::BTreeSet;

/// The instructions that registers need, where `done` are known.
pub fn needed(instrs: &[Instr], mut live: BTreeSet<Reg>, done: &BTreeSet<Reg>) -> Vec<Instr> {
    let mut kept = vec![];
    for i in instrs.iter().rev() {
        let sets = i.sets();
        if sets.iter().any(|r| live.contains(r)) && !sets.iter().any(|r| done.contains(r)) {
            operands(i, &mut live);
            kept.push(i.clone());
        }
    }
    kept.reverse();
    kept
}

/// Adds the registers that an instruction uses, and those of its inner instructions.
fn operands(i: &Instr, found: &mut BTreeSet<Reg>) {
    match i {
        Instr::Const(..) | Instr::Extent(..) => {}
        Instr::Op1(_, _, a) => found.extend([*a]),
        Instr::Op2(_, _, a, b) => found.extend([*a, *b]),
        Instr::Read { index, .. } => found.extend(index),
        Instr::If { cond, merge, .. } => {
            found.insert(*cond);
            found.extend(merge.iter().flat_map(|m| [m.1, m.2]));
        }
        Instr::While { state, go_on, next, .. } => {
            found.extend(state.iter().map(|s| s.1));
            found.insert(*go_on);
            found.extend(next);
        }
    }
    i.inner().into_iter().flatten().for_each(|i| operands(i, found));
}
