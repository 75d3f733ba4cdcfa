//! Row decisions: decisions that are made in the same way for a whole row of elements.
//!
//! NOTE [Row decisions]: the adjoint of a convolution at `[i, j]` adds terms for the rows `i`, `i - 1` and `i - 2` if these
//! exist. Such decisions do not depend on `j`, and nearly all rows decide in the same way: those that are not at an edge.
//! So one test for each row decides whether it is computed without them. C compilers do this (they call it unswitching)
//! only for one or two conditions, since each doubles the loop; here, all conditions together have two versions of it.

use crate::kernel::builder::Builder;
use crate::kernel::{Instr, Reg, ScalarFn};
use crate::optimize::facts::edges::{EdgeDecision, Outcome, all_hold, edge_decisions, forms, sums, with_decisions};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::scalar::scalar_cleanup::{ExecutionCount, NoProducers, clean};
use accel_core::repr::Scalar;
use accel_core::repr::op::{Cmp, Op2};
use std::collections::HashMap;

/// A scalar function of an index, for the rows that are not at an edge.
pub struct RowDecisions {
    /// Whether a row is none of these: a function of the same index that does not use its last component.
    pub hold: ScalarFn,
    /// The function on other rows.
    pub code: ScalarFn,
}

/// The row decisions of a function of an index with these extents, if there are any. Minima and maxima, which have no branches,
/// count if `clamps`.
pub(crate) fn row_decisions(
    facts: &mut Facts,
    code: &ScalarFn,
    extents: &[Poly],
    clamps: bool,
) -> Option<RowDecisions> {
    let last = extents.len().checked_sub(1)?;
    let forms = forms(code, extents.len());
    let mut decisions = HashMap::new();
    let mut tests = vec![];
    for EdgeDecision { instr, to, edge, decision, .. } in edge_decisions(code.instrs.iter(), &forms, 0..last) {
        let test = match (decision.outcome, instr) {
            (Outcome::Bool(outcome), _) => Test::Outcome(to, outcome),
            (Outcome::Operand(_), Instr::Op2(_, _, a, b)) if clamps => {
                Test::Order(if edge.more { Cmp::Ge } else { Cmp::Le }, *a, *b)
            }
            _ => continue,
        };
        decisions.insert(to, edge.order());
        tests.push(test);
    }
    let hold = all_pass(code, &forms, &tests)?;
    let decided = with_decisions(code, |r| decisions.get(&r).copied());
    let mut cleaned = |code: &ScalarFn| clean(facts, &NoProducers, code, extents, ExecutionCount::Maybe).code;
    Some(RowDecisions { hold: cleaned(&hold), code: cleaned(&decided) })
}

/// A condition on sums of indices, extents and constants.
enum Test {
    /// A comparison of them has this outcome.
    Outcome(Reg, bool),
    /// They are in this order.
    Order(Cmp, Reg, Reg),
}

/// Whether all conditions hold.
fn all_pass(code: &ScalarFn, forms: &HashMap<Reg, Poly>, tests: &[Test]) -> Option<ScalarFn> {
    let is_compared = |r: &Reg| tests.iter().any(|t| matches!(t, Test::Outcome(to, _) if to == r));
    let mut sums = sums(code, forms, |i| matches!(i, Instr::Op2(to, Op2::Cmp(_), ..) if is_compared(to)));
    sums.results.clear();
    // Nothing is renamed.
    let (mut b, _) = Builder::after(sums);
    let comparison = |t: &Test| match t {
        Test::Outcome(to, x) => (Cmp::Eq, *to, b.constant(Scalar::Bool(*x))),
        Test::Order(cmp, x, y) => (*cmp, *x, *y),
    };
    let all: Vec<_> = tests.iter().map(comparison).collect();
    all_hold(b, &all)
}
