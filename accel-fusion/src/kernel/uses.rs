//! What instructions and operations use.

use super::ir::{ArrayId, Instr, Op, Reg};
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Int2, Num2, Op2};
use std::collections::BTreeSet;

/// Adds the arrays that instructions read elements of, inner instructions included.
pub fn arrays_read(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    for i in instrs {
        if let Instr::Read { array, .. } = i {
            found.insert(*array);
        }
        i.inner().into_iter().for_each(|inner| arrays_read(inner, found));
    }
}

/// Adds the arrays that instructions read elements of or ask for extents, inner instructions included.
pub fn arrays_mentioned(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    for i in instrs {
        if let Instr::Read { array, .. } | Instr::Extent(_, array, _) = i {
            found.insert(*array);
        }
        i.inner().into_iter().for_each(|inner| arrays_mentioned(inner, found));
    }
}

/// Whether there is a loop among instructions, inner instructions included.
pub fn has_loop(instrs: &[Instr]) -> bool {
    instrs.iter().any(|i| matches!(i, Instr::While { .. }) || i.inner().into_iter().any(has_loop))
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
        let own = match self {
            Instr::Op2(_, Op2::Num(Num2::Div | Num2::Rem) | Op2::Int(Int2::DivEuclid | Int2::RemEuclid), a, _) => {
                types[*a].is_integral()
            }
            Instr::Read { index, inside, .. } => !inside && !index.is_empty(),
            Instr::While { .. } => true,
            _ => false,
        };
        own || self.inner().into_iter().flatten().any(|i| i.may_fail(types))
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
            Op::Literal { .. } | Op::Loop { .. } | Op::Reduce { .. } | Op::Scan { .. } => {}
        }
    }

    /// Adds all arrays that the operation and those of its blocks use in any way, what the blocks define included.
    pub fn used_arrays(&self, found: &mut BTreeSet<ArrayId>) {
        self.codes().iter().for_each(|(_, c)| arrays_mentioned(&c.instrs, found));
        self.whole_arrays(found);
        self.blocks().iter().flat_map(|b| &b.stmts).for_each(|s| s.op.used_arrays(found));
    }
}
