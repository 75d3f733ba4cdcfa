//! Visits all instructions of a scalar function or all statements of a block, including nested ones, without recursion:
//! see NOTE [Deep nests].

use super::ir::{Block, Instr, Stmt};
use std::cell::Cell;

thread_local! {
    static VISITS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a visit of a statement or of the name of an extent, in debug builds.
pub(crate) fn visit() {
    if cfg!(debug_assertions) {
        VISITS.set(VISITS.get() + 1);
    }
}

/// How many statements and names of extents the passes of this thread have visited. Only debug builds count them. Tests of how the work
/// of passes grows with programs compare such numbers, which are the same in each run, unlike times.
pub fn visits() -> u64 {
    VISITS.get()
}

/// All instructions, each before its inner instructions.
pub fn walk(instrs: &[Instr]) -> impl Iterator<Item = &Instr> {
    let mut open = vec![instrs.iter()];
    std::iter::from_fn(move || {
        loop {
            let Some(i) = open.last_mut()?.next() else {
                open.pop();
                continue;
            };
            open.extend(i.inner().into_iter().rev().map(<[Instr]>::iter));
            return Some(i);
        }
    })
}

/// Calls `f` with all instructions, each before its inner instructions.
pub fn walk_mut(instrs: &mut [Instr], mut f: impl FnMut(&mut Instr)) {
    let mut open = vec![instrs];
    while let Some(instrs) = open.pop() {
        for i in instrs {
            f(i);
            if let Instr::If { then: a, otherwise: b, .. } | Instr::While { cond: a, body: b, .. } = i {
                open.extend([a.as_mut_slice(), b.as_mut_slice()]);
            }
        }
    }
}

impl Block {
    /// All statements, each before those of its blocks.
    pub fn walk(&self) -> impl Iterator<Item = &Stmt> {
        let mut open = vec![self.stmts.iter()];
        std::iter::from_fn(move || {
            loop {
                let Some(s) = open.last_mut()?.next() else {
                    open.pop();
                    continue;
                };
                open.extend(s.op.blocks().into_iter().rev().map(|b| b.stmts.iter()));
                visit();
                return Some(s);
            }
        })
    }

    /// Calls `f` with all statements, each before those of its blocks.
    pub fn walk_mut(&mut self, mut f: impl FnMut(&mut Stmt)) {
        let mut open = vec![self];
        while let Some(b) = open.pop() {
            for s in &mut b.stmts {
                visit();
                f(s);
                open.extend(s.op.blocks_mut());
            }
        }
    }
}
