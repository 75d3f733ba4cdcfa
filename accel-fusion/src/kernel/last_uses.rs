//! Last uses: when the arrays of a program need no memory any more.

use super::ids::ArrayId;
use super::ir::*;
use super::uses::arrays_mentioned;
use accel_core::ast::deep;
use index_vec::{IndexVec, index_vec};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// For each block of a program, by its address, and each of its statements: the arrays of the block that nothing uses after
/// the statement.
pub type LastUses = HashMap<*const Block, Rc<[Vec<ArrayId>]>>;

/// The last uses of all arrays. One walk over the program finds them, so that the time for nested blocks is linear.
pub fn last_uses(p: &Program) -> LastUses {
    let n = p.arrays.len();
    let mut walk = Walk { owner: index_vec![None; n], last: index_vec![0; n], path: vec![], found: HashMap::new() };
    walk.block(&p.body, &p.results);
    walk.found
}

struct Walk {
    /// The depth of the block that defines an array, if this block is around the present place.
    owner: IndexVec<ArrayId, Option<usize>>,
    /// The last statement of that block that uses the array, itself or in its blocks.
    last: IndexVec<ArrayId, usize>,
    /// The present statement of each block around the present place.
    path: Vec<usize>,
    found: LastUses,
}

impl Walk {
    fn block(&mut self, b: &Block, results: &[ArrayId]) {
        let depth = self.path.len();
        self.path.push(0);
        for (k, s) in b.stmts.iter().enumerate() {
            self.path[depth] = k;
            let mut used = BTreeSet::new();
            s.op.scalar_fns().iter().for_each(|(_, c)| arrays_mentioned(&c.instrs, &mut used));
            s.op.arrays_used_whole(&mut used);
            for a in used {
                if let Some(owner) = self.owner[a] {
                    self.last[a] = self.path[owner];
                }
            }
            deep(|| s.op.blocks_with_results().into_iter().for_each(|(b, results)| self.block(b, results)));
            for a in s.op.defines() {
                (self.owner[a], self.last[a]) = (Some(depth), k);
            }
        }
        let mut dead = vec![vec![]; b.stmts.len()];
        let results: BTreeSet<_> = results.iter().collect();
        for a in b.stmts.iter().flat_map(|s| s.op.defines()) {
            self.owner[a] = None;
            if !results.contains(&a) {
                dead[self.last[a]].push(a);
            }
        }
        self.path.pop();
        self.found.insert(b, dead.into());
    }
}
