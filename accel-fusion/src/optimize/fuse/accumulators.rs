//! Statements with sums: drops the sums to which nothing is added.
//!
//! NOTE [Statements with sums]: what the body of `Accumulate` adds to sums is an effect. So the body runs exactly once
//! for each index: no consumer computes an element again, no loop is merged with it, and nothing in it moves out of a
//! branch or a loop. Producers move into it as into a loop. A sum is another array than its initial value, so nothing
//! replaces reads of it.

use crate::kernel::{ArrayId, Instr, Op, ScalarFn, SiteId, walk};
use crate::optimize::fuse::fused_program::Pass;
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
