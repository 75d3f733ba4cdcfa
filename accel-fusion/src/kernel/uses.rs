//! What instructions and operations use.

use super::ir::{ArrayId, Block, Instr, Op, Reg};
use super::walk::walk;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Int2, Num2, Op2};
use std::collections::BTreeSet;

/// Adds the arrays that instructions read elements of, inner instructions included.
pub fn arrays_read(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    found.extend(walk(instrs).filter_map(|i| match i {
        Instr::Read { array, .. } => Some(*array),
        _ => None,
    }));
}

/// Adds the arrays that instructions read elements of or ask for extents, inner instructions included.
pub fn arrays_mentioned(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    found.extend(walk(instrs).filter_map(|i| match i {
        Instr::Read { array, .. } | Instr::Extent(_, array, _) => Some(*array),
        _ => None,
    }));
}

/// Whether there is a loop among instructions, inner instructions included.
pub fn has_loop(instrs: &[Instr]) -> bool {
    walk(instrs).any(|i| matches!(i, Instr::While { .. }))
}

/// Whether an index is made of the parameters of a code of so many, each once.
pub fn is_permutation(index: &[Reg], params: usize) -> bool {
    let mut sorted = index.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..params)
}

impl Instr {
    /// Whether the instruction, or one inside of it, may be an error or never end. `types` are those of the registers.
    pub fn may_fail(&self, types: &[ScalarType]) -> bool {
        walk(std::slice::from_ref(self)).any(|i| match i {
            Instr::Op2(_, Op2::Num(Num2::Div | Num2::Rem) | Op2::Int(Int2::DivEuclid | Int2::RemEuclid), a, _) => {
                types[*a].is_integral()
            }
            Instr::Read { index, inside, .. } => !inside && !index.is_empty(),
            Instr::While { .. } => true,
            _ => false,
        })
    }
}

impl Op {
    /// Adds the arrays that the operation takes as a whole, otherwise than by its codes: those of its blocks are their results.
    pub fn whole_arrays(&self, found: &mut BTreeSet<ArrayId>) {
        match self {
            Op::Permute { defaults: a, .. } | Op::Reshape { from: a, .. } => found.extend([*a]),
            Op::If { then, otherwise, .. } => found.extend(then.1.iter().chain(&otherwise.1)),
            Op::While { init, cond, body, .. } => found.extend(init.iter().chain([&cond.1]).chain(&body.1)),
            Op::Strip { to, .. } => found.extend(to),
            Op::Literal { .. } | Op::Loop { .. } | Op::Reduce { .. } | Op::Scan { .. } | Op::Agree { .. } => {}
        }
    }

    /// Adds all arrays that the operation and those of its blocks use in any way, what the blocks define included.
    pub fn used_arrays(&self, found: &mut BTreeSet<ArrayId>) {
        let own = |op: &Op, found: &mut BTreeSet<ArrayId>| {
            op.codes().iter().for_each(|(_, c)| arrays_mentioned(&c.instrs, found));
            op.whole_arrays(found);
        };
        own(self, found);
        self.blocks().into_iter().flat_map(Block::walk).for_each(|s| own(&s.op, found));
    }
}
