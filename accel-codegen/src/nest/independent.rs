//! Whether the iterations of loops are independent.
//!
//! Two facts suffice. Only [`Acc`](Node::Acc) and [`AccLanes`](Node::AccLanes) make iterations depend on each other, and
//! the order of what they combine is undefined. And iterations of a nest that was lowered from one operation write
//! different numbers, or (where a split repeats the last iteration) the same numbers again. So it remains to check that no
//! iteration reads what another one writes.

use super::edit::{Access, Why, accesses, allocated, walk, written};
use super::ir::*;
use accel_fusion::kernel::Reg;
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
    let shared = read.difference(&own).find(|r| written.iter().any(|w| are_same_memory(nest, **r, *w)));
    match shared {
        Some(b) => Err(Why(format!("the loop over x{} reads and writes b{b}", f.var))),
        None => Ok(()),
    }
}

/// Checks that the iterations of two loops with the same range can be executed in any order, as long as each iteration of
/// the first loop comes before that of the second one with the same number. Of what one writes and the other uses, an
/// iteration must use only the part with its own number as the index along some dimension.
///
/// # Errors
/// The loops have another number in common.
pub fn keep_to_their_iterations(nest: &Nest, a: (Reg, &[Node]), b: (Reg, &[Node])) -> Result<(), Why> {
    let (first, second) = (accesses(a.1), accesses(b.1));
    for (x, writes) in &first {
        for (y, _) in
            second.iter().filter(|(y, also)| (*writes || *also) && are_same_memory(nest, x.buffer(), y.buffer()))
        {
            let own = match (x, y) {
                (Access::Place(p), Access::Place(q)) => {
                    let of = |i: &Affine, var: Reg| i.as_register() == Some(var);
                    p.index.iter().zip(&q.index).any(|(i, j)| of(i, a.0) && of(j, b.0))
                }
                _ => false,
            };
            if !own {
                return Err(Why(format!("the loops over x{} and x{} both use b{}", a.0, b.0, x.buffer())));
            }
        }
    }
    Ok(())
}

/// Whether two buffers are the same memory, as buffers of the same array are.
pub fn are_same_memory(nest: &Nest, a: BufferId, b: BufferId) -> bool {
    let space = |b: BufferId| nest.buffers[b].space;
    a == b || (space(a) != Space::Local && space(a) == space(b))
}
