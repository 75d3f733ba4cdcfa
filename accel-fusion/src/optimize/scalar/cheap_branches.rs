//! Whether the branches of a conditional can both be computed, and cost little: NOTE [Selections] in `selections`.

use crate::kernel::{Instr, ScalarFn};
use accel_core::repr::op::{Float1, Op1};

/// The largest cost of two branches that are both computed: a wrong prediction takes the time of about 16 instructions,
/// in which vectors of four numbers compute 64.
pub(crate) const MOST_COST: usize = 64;

/// Whether two branches only compute, and cost little. `code` has the types of the registers.
pub(crate) fn are_cheap(code: &ScalarFn, then: &[Instr], otherwise: &[Instr]) -> bool {
    let only_computes = |i: &Instr| match i {
        // Whether a list has the element can depend on the condition.
        Instr::Get { .. } => false,
        _ => !is_for_numbers(i) && (i.is_selection() || i.is_branch_free(code)),
    };
    [then, otherwise].iter().all(|b| b.iter().all(only_computes))
        && code.cost_of(then) + code.cost_of(otherwise) <= MOST_COST
}

/// Whether an instruction is a function that has no version for vectors.
pub(crate) fn is_for_numbers(i: &Instr) -> bool {
    matches!(i, Instr::Op1(_, Op1::Float(Float1::LogGamma | Float1::Family(..) | Float1::ErfInv), _))
}
