//! Common statements: computes equal arrays once.
//!
//! Programs that need a value and its derivatives compute several times what both have in common. Sharing it before
//! fusion would force arrays to be stored that each consumer computes for itself. So this pass comes after fusion: a
//! statement that reads the same arrays in the same way as one before it defines the same arrays.

use crate::kernel::{ArrayId, Block, Instr, Op, SiteId, Stmt, depth, walk_mut};
use crate::optimize::layout::compact::Numbers;
use crate::optimize::rules::{Place, Rule};
use std::collections::{BTreeSet, HashMap};

/// Statements with deeper nests are not compared with others: their text is written by recursion, which does not look at the stack that
/// is left (NOTE [Deep nests]).
const DEEPEST: usize = 64;

/// `a = s; b = s` is `a = s; b = a`.
#[derive(Default)]
pub struct Share {
    /// Arrays that are not computed any more, and those that equal them.
    same: Numbers,
    /// The visible statements: what they compute, and their arrays.
    seen: HashMap<String, Vec<ArrayId>>,
}

impl Rule for Share {
    fn stmt(&mut self, _: &mut Place, mut s: Stmt, before: &mut Vec<Stmt>) {
        self.same.op(&mut s.op);
        if let Some(key) = key(&s.op) {
            let arrays = s.op.defines().to_vec();
            if let Some(same) = self.seen.get(&key) {
                return self.same.extend(arrays.into_iter().zip(same.iter().copied()));
            }
            self.seen.insert(key, arrays);
        }
        before.push(s);
    }

    fn block(&mut self, _: &mut Place, b: &mut Block, results: &mut [ArrayId]) {
        self.same.arrays(results);
        // What a block defines is not visible outside.
        let own: BTreeSet<_> = b.stmts.iter().flat_map(|s| s.op.defines()).collect();
        self.seen.retain(|_, arrays| arrays.iter().all(|a| !own.contains(a)));
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
        Op::Loop { to, .. } | Op::Argsort { to, .. } | Op::Foreign { to, .. } => {
            to.iter_mut().for_each(|a| *a = ArrayId::new(0))
        }
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
