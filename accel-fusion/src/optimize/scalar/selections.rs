//! Selections: cheap conditionals compute both branches and select results.
//!
//! NOTE [Selections]: a loop over neighbouring elements can use vectors only if they all execute the same instructions. C
//! compilers turn branches that only compute into selections, but branches that read seldom, because they do not know that the
//! reads are inside. So a branch costs a factor of the length of a vector, and the time of a wrong prediction if it is hard to
//! predict. A selection, which is a conditional whose branches are empty, costs both branches, but in vectors. If one branch is
//! taken nearly always and costs nothing, the selection is slower, by the cost of the other branch divided by the length of a
//! vector. This is at most the time of a wrong prediction if the branches cost at most
//! [`MOST_COST`](crate::optimize::scalar::cheap_branches::MOST_COST). So a conditional becomes a selection if
//! - the branches only compute: what can fail, loops or adds to sums stays where it is,
//! - their reads are inside whatever the condition is, under the assumptions that are made anyway,
//! - they cost at most that much, and
//! - the condition differs between neighbouring elements: otherwise the whole row takes the same branch.
//!
//! A selection drops the value that is not chosen, so it does not matter if this is infinite or no number.
//!
//! It is the last step of fusion, because fusion uses conditions: if elements of an array are read only where two indices
//! are equal, then each is read once.

use crate::kernel::{IndexVec, Instr, Op, Program, Reg, ScalarFn, index_vec, walk};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::scalar::scalar_cleanup::{ExecutionCount, NoProducers, clean, clean_with_selections};
use accel_core::ast::deep;

/// Turns cheap conditionals in loops and reductions into selections. The facts are those about the arrays of the program.
pub(crate) fn select(program: &mut Program, facts: &mut Facts) {
    program.body.walk_mut(|s| match &mut s.op {
        Op::Loop { to, body, .. } => {
            let dims = facts.dims(to[0]);
            in_element(facts, body, &dims);
        }
        Op::Reduce { to, rows, .. } => {
            let len = clean(facts, &NoProducers, &rows.len, &[], ExecutionCount::Maybe).values.swap_remove(0);
            let dims = [facts.dims(*to), vec![len.unwrap_or_default()]].concat();
            in_element(facts, &mut rows.element, &dims);
        }
        _ => {}
    });
}

/// The same for a function of an index.
fn in_element(facts: &mut Facts, code: &mut ScalarFn, dims: &[Poly]) {
    let Some(last) = dims.len().checked_sub(1) else { return };
    let varying = varying(code, Reg::new(last));
    let has_decision =
        walk(&code.instrs).any(|i| matches!(i, Instr::If { cond, .. } if varying[*cond] && !i.is_selection()));
    if has_decision {
        let selected = clean_with_selections(facts, code, dims, &varying).code;
        // What both branches have in common is computed once.
        *code = clean(facts, &NoProducers, &selected, dims, ExecutionCount::Maybe).code;
    }
}

/// For each register of a function, whether its value depends on the parameter `from`.
pub(crate) fn varying(code: &ScalarFn, from: Reg) -> IndexVec<Reg, bool> {
    let mut varying = index_vec![false; code.types.len()];
    varying[from] = true;
    mark(&code.instrs, &mut varying);
    varying
}

fn mark(instrs: &[Instr], varying: &mut IndexVec<Reg, bool>) {
    for i in instrs {
        match i {
            Instr::If { cond, then, otherwise, merge } => {
                deep(|| [then, otherwise].into_iter().for_each(|b| mark(b, varying)));
                merge.iter().for_each(|(to, a, b)| varying[*to] = [cond, a, b].iter().any(|r| varying[**r]));
            }
            // What loops compute depends on the number of steps.
            Instr::While { .. } => walk(std::slice::from_ref(i)).flat_map(Instr::sets).for_each(|r| varying[r] = true),
            _ => {
                let mut used = vec![];
                i.direct_uses(&mut used);
                let differs = used.iter().any(|r| varying[*r]);
                i.sets().into_iter().for_each(|r| varying[r] = differs);
            }
        }
    }
}
