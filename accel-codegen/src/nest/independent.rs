//! Whether the iterations of a loop are independent.
//!
//! Two facts suffice. Only [`Acc`](Node::Acc) and [`AccLanes`](Node::AccLanes) make iterations depend on each other, and
//! the order of what they combine is undefined. And iterations of a nest that was lowered from one operation write
//! different numbers, or (where a split repeats the last iteration) the same numbers again. So it remains to check that no
//! iteration reads what another one writes.

use super::edit::{Why, allocated, walk, written};
use super::ir::*;
use std::collections::BTreeSet;

/// Checks that the iterations of a loop can be executed in any order, and at the same time.
///
/// # Errors
/// An iteration may read what another one writes.
pub fn are_independent(nest: &Nest, f: &For) -> Result<(), Why> {
    let (written, own, mut read) = (written(&f.body), allocated(&f.body), BTreeSet::new());
    walk(&f.body, &mut |n| match n {
        Node::Load { from, .. } | Node::Transpose { from, .. } => _ = read.insert(from.buffer),
        Node::AccLanes { all, .. } => read.extend(all.iter().map(|a| a.2)),
        _ => {}
    });
    // Buffers of the same array are the same memory.
    let space = |b: &BufferId| nest.buffers[*b].space;
    let conflict = |a: &BufferId, b: &BufferId| a == b || (space(a) != Space::Local && space(a) == space(b));
    let shared = read.difference(&own).find(|r| written.iter().any(|w| conflict(r, w)));
    match shared {
        Some(b) => Err(Why(format!("the loop over x{} reads and writes b{b}", f.var))),
        None => Ok(()),
    }
}
