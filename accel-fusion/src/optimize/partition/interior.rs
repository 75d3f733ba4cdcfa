//! Interiors: the part of an index space in which elements need no special rules for edges.
//!
//! NOTE [Interiors]: the elements of a stencil clamp their indices, or compare them with extents, because of the elements at
//! the edges. These decisions cost more than the arithmetic, and they keep compilers from using vectors. But along the last
//! dimension, nearly all elements decide in the same way: `max(i - 1, 0)` is `i - 1`, and `i + 1 < n` is true. So a loop can
//! compute the elements in the interior without the decisions, and only those at the edges with them. A decision belongs to
//! an edge if it changes at a constant number of elements from the start or from the end of an extent. If this is the extent of
//! another array, as in a concatenation, there can be many elements behind the edge. If all decisions change at the same place,
//! they are known there, too.

use crate::kernel::builder::Builder;
use crate::kernel::{Instr, Program, Reg, ScalarFn, walk};
use crate::optimize::facts::edges::{At, EdgeDecision, edge_decisions, forms, with_decisions};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::partition::row_decisions::{RowDecisions, row_decisions};
use crate::optimize::partition::row_selections::{RowSelections, row_selections};
use crate::optimize::scalar::scalar_cleanup::{ExecutionCount, NoProducers, clean, code_of};
use accel_core::repr::op::{Cmp, Num2, Op2};
use std::collections::{BTreeSet, HashMap};

/// Scalar functions with more instructions are not computed in two versions: C compilers take twice as long, and the decisions are a
/// small part of the work. Chosen.
pub const MOST_INSTRS: usize = 400;

/// A scalar function of an index, for the indices in the interior.
pub struct Interior {
    /// The function there, with the same parameters.
    pub code: ScalarFn,
    /// The first index along the last dimension.
    pub first: i64,
    /// The index after the last one, as a function without parameters. If there is none, the interior has no end.
    pub end: Option<ScalarFn>,
    /// The function behind the interior, if it is known there.
    pub behind: Option<ScalarFn>,
    /// The decisions in the interior that are the same for a whole row.
    pub rows: Option<RowDecisions>,
    /// The function in the interior with selections for these decisions, if that is possible.
    pub selections: Option<RowSelections>,
}

/// The interior along the last one of `rank` dimensions, if there are edges.
pub fn interior(program: &Program, code: &ScalarFn, rank: usize) -> Option<Interior> {
    if rank == 0 || walk(&code.instrs).count() > MOST_INSTRS {
        return None;
    }
    let forms = forms(code, rank);
    let (mut first, mut ends, mut decisions) = (0, BTreeSet::new(), HashMap::new());
    let mut known_behind = true;
    for EdgeDecision { instr, to, edge, decision, .. } in edge_decisions(walk(&code.instrs), &forms, rank - 1..rank) {
        let strict = i64::from(decision.strict);
        let at_end = matches!(edge.at, At::End(_));
        known_behind &= !at_end || !matches!(instr, Instr::Op2(_, Op2::Cmp(Cmp::Eq | Cmp::Ne), ..));
        decisions.insert(to, (edge.order(), at_end));
        match edge.at {
            At::Start(at) => first = first.max(at + strict),
            At::End(at) => _ = ends.insert(at.plus_constant(1 - strict)),
        }
    }
    if decisions.is_empty() {
        return None;
    }
    let mut facts = Facts::new(program, false);
    let ranges: Vec<Poly> = (0..rank).map(|_| facts.unknown()).collect();
    let mut decided = |behind: bool| {
        let decide =
            |r: Reg| decisions.get(&r).map(|(order, at_end)| if behind && *at_end { order.reverse() } else { *order });
        let code = with_decisions(code, decide);
        clean(&mut facts, &NoProducers, &code, &ranges, ExecutionCount::Maybe).code
    };
    let known_behind = known_behind && first == 0 && ends.len() == 1;
    let (code, behind) = (decided(false), known_behind.then(|| decided(true)));
    let (mut b, all) = Builder::after(code_of(&mut facts, &Vec::from_iter(ends)));
    let end = all.into_iter().reduce(|x, y| b.index_op(Num2::Min, x, y));
    let rows = row_decisions(&mut facts, &code, &ranges, false);
    let selections = row_selections(&mut facts, &code, &ranges);
    Some(Interior { code, first, end: end.map(|end| b.finish(vec![end])), behind, rows, selections })
}
