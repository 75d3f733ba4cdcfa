//! Statements with sums: drops the sums and arrays that nothing uses, and those to which nothing is added.
//!
//! NOTE [Statements with sums]: what the body of `Accumulate` adds to sums is an effect. So the body runs exactly once
//! for each index: no consumer computes an element again, no loop is merged with it, and nothing in it moves out of a
//! branch or a loop. Producers move into it as into a loop. A sum is another array than its initial value, so nothing
//! replaces reads of it.

use crate::kernel::dead_code::restricted_to;
use crate::kernel::{ArrayId, Instr, Instrs, Op, Reg, ScalarFn, SiteId, walk};
use crate::optimize::fuse::fused_program::Pass;
use accel_core::ast::deep;
use std::collections::BTreeSet;

/// A statement with sums.
pub struct Accumulate<'a> {
    /// The arrays defined as by a loop.
    pub to: &'a [ArrayId],
    /// The sums and their initial values.
    pub sums: &'a [(ArrayId, ArrayId)],
    /// The extents of the index space.
    pub extents: &'a ScalarFn,
    /// The body.
    pub body: &'a ScalarFn,
}

/// Adds a statement with sums to the new program. A sum to which nothing is added is its initial value; without other
/// sums, the statement is a loop.
pub fn accumulate(pass: &mut Pass, s: Accumulate, site: SiteId) {
    let (extents, dims) = pass.extents(s.extents);
    pass.define(s.to, &dims);
    let initial: Vec<_> = s.sums.iter().map(|(sum, initial)| (*sum, pass.alias(*initial))).collect();
    for (sum, initial) in &initial {
        let dims = pass.facts.dims(*initial);
        pass.define(&[*sum], &dims);
    }
    let cleaned = pass.preview(s.body, &dims);
    let used = sums_in(&cleaned.code);
    let (sums, unchanged): (Vec<_>, Vec<_>) = initial.into_iter().partition(|(sum, _)| used.contains(sum));
    pass.known.aliases.extend(unchanged);
    if sums.is_empty() {
        if !s.to.is_empty() {
            pass.loop_(s.to, extents, dims, s.body, site);
        }
        return;
    }
    pass.keep(&cleaned);
    pass.emit(Op::Accumulate { to: s.to.to_vec(), sums, extents, body: cleaned.code }, site);
}

/// The sums to which a body adds.
fn sums_in(body: &ScalarFn) -> BTreeSet<ArrayId> {
    let sum = |i: &Instr| if let Instr::Emit { to, .. } = i { Some(*to) } else { None };
    walk(&body.instrs).filter_map(sum).collect()
}

/// Drops the arrays and sums that are not needed. `columns` gives the number of columns of an array.
pub fn drop_unused(
    (to, sums, body): (&mut Vec<ArrayId>, &mut Vec<(ArrayId, ArrayId)>, &mut ScalarFn),
    needed: &BTreeSet<ArrayId>,
    columns: impl Fn(ArrayId) -> usize,
) {
    let is_needed = |a: &ArrayId| needed.contains(a);
    if to.iter().all(is_needed) && sums.iter().all(|s| is_needed(&s.0)) {
        return;
    }
    sums.retain(|s| is_needed(&s.0));
    drop_emissions(&mut body.instrs, needed);
    let mut results = body.results.iter().copied();
    let mut kept: Vec<Reg> = vec![];
    for a in to.iter() {
        let of_array: Vec<_> = results.by_ref().take(columns(*a)).collect();
        kept.extend(if is_needed(a) { of_array } else { vec![] });
    }
    to.retain(is_needed);
    *body = restricted_to(body, kept);
}

/// Drops the instructions that add to sums that are not needed.
fn drop_emissions(instrs: &mut Vec<Instr>, needed: &BTreeSet<ArrayId>) {
    instrs.retain(|i| !matches!(i, Instr::Emit { to, .. } if !needed.contains(to)));
    for i in instrs {
        if let Instr::If { then: a, otherwise: b, .. } | Instr::While { cond: a, body: b, .. } = i {
            deep(|| [a, b].into_iter().for_each(|inner: &mut Instrs| drop_emissions(inner, needed)));
        }
    }
}
