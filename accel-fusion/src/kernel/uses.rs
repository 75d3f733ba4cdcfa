//! Collects the arrays that instructions and operations use.

use super::ids::{ArrayId, Reg};
use super::ir::{Block, Instr, Op, ScalarFn, Trips};
use super::walk::{visit, walk};
use std::collections::BTreeSet;

/// Adds the arrays whose elements the instructions read, including inner instructions.
pub fn arrays_read(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    found.extend(walk(instrs).filter_map(|i| match i {
        Instr::Read { array, .. } => Some(*array),
        _ => None,
    }));
}

/// Adds the arrays whose elements or extents the instructions read, including inner instructions.
pub fn arrays_mentioned(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    found.extend(walk(instrs).filter_map(|i| match i {
        Instr::Read { array, .. } | Instr::Extent(_, array, _) => Some(*array),
        _ => None,
    }));
}

/// Whether an index consists of all `params` parameters of a scalar function, each once.
pub fn is_permutation(index: &[Reg], params: usize) -> bool {
    let mut sorted = index.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq((0..params).map(Reg::new))
}

/// The dimensions of arrays whose index is `inner`, if `inner` follows `outer` wherever the function uses one of them.
pub fn follows(code: &ScalarFn, outer: Reg, inner: Reg) -> Option<Vec<(ArrayId, usize)>> {
    if code.results.iter().any(|r| [outer, inner].contains(r)) {
        return None;
    }
    let mut found = vec![];
    for i in walk(&code.instrs) {
        let mut used = vec![];
        i.direct_uses(&mut used);
        if !used.iter().any(|r| [outer, inner].contains(r)) {
            continue;
        }
        // An index that is checked is part of an error.
        let Instr::Read { array, index, inside: true, .. } = i else { return None };
        for (dim, pair) in
            std::iter::once(&Reg::NONE).chain(index).chain([&Reg::NONE]).collect::<Vec<_>>().windows(2).enumerate()
        {
            match (*pair[0] == outer, *pair[1] == inner) {
                (true, true) => found.push((*array, dim)),
                (false, false) => {}
                _ => return None,
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

impl Op {
    /// Adds the arrays that the operation uses as a whole, not through its scalar functions. For its blocks, these are
    /// their results.
    pub fn arrays_used_whole(&self, found: &mut impl Extend<ArrayId>) {
        match self {
            Op::Permute { defaults: a, .. } | Op::Reshape { from: a, .. } => found.extend([*a]),
            Op::Argsort { keys, moved, .. } => found.extend(moved.iter().flatten().chain([keys]).copied()),
            Op::Foreign { from, .. } => found.extend(from.iter().copied()),
            Op::If { then, otherwise, .. } => found.extend(then.1.iter().chain(&otherwise.1).copied()),
            Op::Accumulate { sums, .. } => found.extend(sums.iter().map(|s| s.1)),
            Op::While { init, trips, body, .. } => {
                let (Trips::While(_, a) | Trips::Times(a, _)) = trips;
                found.extend(init.iter().chain([a]).chain(&body.1).copied());
            }
            Op::Keep { arrays, .. } => found.extend(arrays.iter().copied()),
            Op::Recall { step, .. } => found.extend(step.1.iter().copied()),
            Op::Strip { to, .. } => found.extend(to.iter().copied()),
            Op::Literal { .. } | Op::Loop { .. } | Op::Reduce { .. } | Op::Scan { .. } | Op::Agree { .. } => {}
        }
    }

    /// Adds all arrays that the operation and its blocks use in any way, including those that the blocks define.
    pub fn used_arrays(&self, found: &mut BTreeSet<ArrayId>) {
        visit();
        let own = |op: &Op, found: &mut BTreeSet<ArrayId>| {
            op.scalar_fns().iter().for_each(|(_, c)| arrays_mentioned(&c.instrs, found));
            op.arrays_used_whole(found);
        };
        own(self, found);
        self.blocks().into_iter().flat_map(Block::walk).for_each(|s| own(&s.op, found));
    }
}
