//! Backward slicing: finds the instructions that some registers need.

use accel_fusion::kernel::{Instr, Reg};
use std::collections::BTreeSet;

/// The instructions that the registers `live` need. The registers `done` are known already.
pub fn needed(instrs: &[Instr], mut live: BTreeSet<Reg>, done: &BTreeSet<Reg>) -> Vec<Instr> {
    let mut kept = vec![];
    for i in instrs.iter().rev() {
        let sets = i.sets();
        if sets.iter().any(|r| live.contains(r)) && !sets.iter().any(|r| done.contains(r)) {
            i.uses(&mut live);
            kept.push(i.clone());
        }
    }
    kept.reverse();
    kept
}
