//! Common statements: computes equal arrays once.
//!
//! Programs that need a value and its derivatives compute several times what both have in common. Sharing it before
//! fusion would force arrays to be stored that each consumer computes for itself. So this pass comes after fusion: a
//! statement that reads the same arrays in the same way as one before it defines the same arrays.

use crate::kernel::{ArrayId, Block, Instr, Op, Program, SiteId, depth, walk_mut};
use crate::optimize::layout::compact::Numbers;
use accel_core::ast::deep;
use std::collections::HashMap;

/// Statements with deeper nests are not compared with others.
const DEEPEST: usize = 64;

/// Computes equal arrays once.
pub fn share(program: &Program) -> Program {
    let mut program = program.clone();
    let mut pass = Pass::default();
    pass.block(&mut program.body);
    program.results.iter_mut().for_each(|a| pass.same.array(a));
    program
}

#[derive(Default)]
struct Pass {
    /// Arrays that are not computed any more, and those that equal them.
    same: Numbers,
    /// The visible statements: what they compute, and their arrays.
    seen: HashMap<String, Vec<ArrayId>>,
}

impl Pass {
    fn block(&mut self, b: &mut Block) {
        let mut added = vec![];
        b.stmts.retain_mut(|s| {
            s.op.blocks_mut().into_iter().for_each(|b| deep(|| self.block(b)));
            self.same.op(&mut s.op);
            let Some(key) = key(&s.op) else { return true };
            let arrays = s.op.defines().to_vec();
            if let Some(before) = self.seen.get(&key) {
                self.same.extend(arrays.into_iter().zip(before.iter().copied()));
                return false;
            }
            added.push(key.clone());
            self.seen.insert(key, arrays);
            true
        });
        // What a block defines is not visible outside.
        added.iter().for_each(|key| _ = self.seen.remove(key));
    }
}

/// What a statement computes, whatever its arrays are called and wherever it is in the source. `None` if it has blocks or
/// effects, or is nested so deeply that its text would take too long.
fn key(op: &Op) -> Option<String> {
    if !op.blocks().is_empty() || op.scalar_fns().iter().any(|(_, code)| depth(&code.instrs) > DEEPEST) {
        return None;
    }
    let mut op = op.clone();
    match &mut op {
        Op::Loop { to, .. } | Op::Argsort { to, .. } => to.iter_mut().for_each(|a| *a = ArrayId::new(0)),
        Op::Reduce { to, .. } | Op::Scan { to, .. } | Op::Permute { to, .. } | Op::Reshape { to, .. } => {
            *to = ArrayId::new(0)
        }
        Op::Literal { .. }
        | Op::Accumulate { .. }
        | Op::Agree { .. }
        | Op::If { .. }
        | Op::While { .. }
        | Op::Keep { .. }
        | Op::Recall { .. }
        | Op::Strip { .. } => return None,
    }
    for code in op.scalar_fns_mut() {
        walk_mut(&mut code.instrs, |i| {
            if let Instr::Read { site, .. } = i {
                *site = SiteId::new(0);
            }
        });
    }
    Some(format!("{op:?}"))
}
