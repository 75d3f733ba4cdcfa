//! The step of a tape: the part of a loop's body that computes the kept states.

use crate::kernel::{ArrayId, Block, Op, Program, Stmt};
use crate::optimize::layout::compact::Numbers;
use std::collections::{BTreeMap, BTreeSet};

/// A loop: its state, and the body that computes the next one.
#[derive(Clone, Copy)]
pub struct Body<'a> {
    pub state: &'a [ArrayId],
    pub init: &'a [ArrayId],
    pub next: &'a [ArrayId],
    pub stmts: &'a [Stmt],
}

impl Body<'_> {
    /// Whether a component of the state stays as it is.
    pub fn is_constant(&self, k: usize) -> bool {
        self.state[k] == self.next[k]
    }

    /// The components of the state from which the components `wanted` can be computed again, and the statements of the
    /// body that do so. `None` if they use a tape.
    pub fn closure(&self, wanted: &BTreeSet<usize>) -> Option<(Vec<usize>, Vec<usize>)> {
        let mut kept = wanted.clone();
        loop {
            let mut needed: BTreeSet<ArrayId> = kept.iter().map(|k| self.next[*k]).collect();
            let mut used = vec![];
            for (at, s) in self.stmts.iter().enumerate().rev() {
                if s.op.defines().iter().any(|a| needed.contains(a)) {
                    s.op.used_arrays(&mut needed);
                    used.push(at);
                }
            }
            let changing = (0..self.state.len()).filter(|k| !self.is_constant(*k));
            let all: BTreeSet<usize> =
                changing.filter(|k| needed.contains(&self.state[*k])).chain(kept.clone()).collect();
            if all == kept {
                used.reverse();
                let tape = |s: &Stmt| matches!(s.op, Op::Keep { .. } | Op::Recall { .. });
                let has_tape = |s: &Stmt| tape(s) || s.op.blocks().into_iter().flat_map(Block::walk).any(tape);
                let free = !used.iter().any(|at| has_tape(&self.stmts[*at]));
                return free.then(|| (kept.into_iter().collect(), used));
            }
            kept = all;
        }
    }
}

/// A copy of some statements with arrays of its own. `names` are those of the state, to which the new ones are added.
pub fn copy(program: &mut Program, stmts: Vec<Stmt>, names: &mut BTreeMap<ArrayId, ArrayId>) -> Block {
    let mut block = Block { stmts };
    let defined: Vec<ArrayId> = block.walk().flat_map(|s| s.op.defines()).collect();
    for a in defined {
        // The arrays of a strip are defined by its statements, too.
        let info = program.arrays[a].clone();
        names.entry(a).or_insert_with(|| program.arrays.push(info));
    }
    let all = Numbers::from(std::mem::take(names));
    all.block(&mut block);
    *names = all.into();
    block
}
