//! Row decisions: decisions that are made in the same way for a whole row of elements.
//!
//! NOTE [Row decisions]: the adjoint of a convolution at `[i, j]` adds terms for the rows `i`, `i - 1` and `i - 2` if these
//! exist. Such decisions do not depend on `j`, and nearly all rows decide in the same way: those that are not at an edge.
//! So one test for each row decides whether it is computed without them. C compilers do this (they call it unswitching)
//! only for one or two conditions, since each doubles the loop; here, all conditions together have two versions of it.

use super::edges::{Outcome, all_hold, decision, edge, forms, sums, with_decisions};
use super::poly::{Poly, Sym};
use super::scalar_cleanup::{ExecutionCount, NoProducers, clean};
use super::shape_analysis::Facts;
use crate::kernel::builder::Builder;
use crate::kernel::{Instr, Reg, ScalarFn};
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

/// The row decisions of a function of an index with these extents, if there are any.
pub(super) fn row_decisions(facts: &mut Facts, code: &ScalarFn, extents: &[Poly]) -> Option<RowDecisions> {
    let last = extents.len().checked_sub(1)?;
    let forms = forms(code, extents.len());
    let mut decisions = HashMap::new();
    let mut tests = vec![];
    for i in &code.instrs {
        let Instr::Op2(to, Op2::Cmp(_), a, b) = i else { continue };
        let Some(difference) = forms.get(a).zip(forms.get(b)).and_then(|(a, b)| a.minus_exactly(b)) else { continue };
        let Some(edge) = (0..last).find_map(|d| edge(&difference, Sym::Param(d))) else { continue };
        if let Some(Outcome::Bool(outcome)) = decision(i, edge.more).map(|d| d.outcome) {
            decisions.insert(*to, edge.more);
            tests.push((*to, outcome));
        }
    }
    let hold = all_equal(code, &forms, &tests)?;
    let decided = with_decisions(code, |r| decisions.get(&r).copied());
    let mut cleaned = |code: &ScalarFn| clean(facts, &NoProducers, code, extents, ExecutionCount::Maybe).code;
    Some(RowDecisions { hold: cleaned(&hold), code: cleaned(&decided) })
}

/// Whether comparisons of sums of indices, extents and constants have these outcomes.
fn all_equal(code: &ScalarFn, forms: &HashMap<Reg, Poly>, tests: &[(Reg, bool)]) -> Option<ScalarFn> {
    let is_test = |i: &Instr| matches!(i, Instr::Op2(to, Op2::Cmp(_), ..) if tests.iter().any(|t| t.0 == *to));
    let mut sums = sums(code, forms, is_test);
    sums.results = tests.iter().map(|t| t.0).collect();
    let (mut b, found) = Builder::after(sums);
    let outcomes = found.into_iter().zip(tests);
    let tests: Vec<_> = outcomes.map(|(r, (_, x))| (Cmp::Eq, r, b.constant(Scalar::Bool(*x)))).collect();
    all_hold(b, &tests)
}
