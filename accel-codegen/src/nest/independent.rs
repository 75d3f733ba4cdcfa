//! Whether the iterations of loops are independent.
//!
//! Two facts suffice. [`Acc`](Node::Acc) and [`AccLanes`](Node::AccLanes) combine numbers in an undefined order. And
//! iterations of a nest that was lowered from one operation write different numbers, or (where a split repeats the last
//! iteration) the same numbers again. So it remains to check that no iteration reads what another one writes.

use super::edit::{Access, Why, all_accesses, allocated, loops_around, waits, walk, written};
use super::ir::*;
use accel_fusion::kernel::Reg;
use std::collections::{BTreeMap, BTreeSet};

/// Checks that the iterations of a loop can be executed in any order, and at the same time: of what they read and write, each
/// uses only the part with its own number as the index along some dimension.
///
/// # Errors
/// An iteration may read what another one writes, or items wait for each other.
pub fn are_independent(nest: &Nest, f: &For) -> Result<(), Why> {
    is_independent_but(nest, f, |b| !is_divided_by(nest, &f.body, f.var, b))
}

/// Checks that no iteration of a loop reads what one of them writes.
fn is_independent_but(nest: &Nest, f: &For, matters: impl Fn(BufferId) -> bool) -> Result<(), Why> {
    match read_and_written(nest, &f.body).into_iter().find(|b| matters(*b)) {
        _ if waits(&f.body) => Err(Why(format!("items wait for each other in the loop over x{}", f.var))),
        Some(b) => Err(Why(format!("the loop over x{} reads and writes b{b}", f.var))),
        None => Ok(()),
    }
}

/// The buffers that nodes read, and that are memory that they also write, except those that begin inside.
pub fn read_and_written(nest: &Nest, nodes: &[Node]) -> BTreeSet<BufferId> {
    let (written, own, mut read) = (written(nodes), allocated(nodes), BTreeSet::new());
    walk(nodes, &mut |n| match n {
        Node::Load { from, .. } | Node::Transpose { from, .. } => _ = read.insert(from.buffer),
        Node::AccLanes { all, .. } => read.extend(all.iter().map(|a| a.2)),
        _ => {}
    });
    read.retain(|r| !own.contains(r) && written.iter().any(|w| are_same_memory(nest, *r, *w)));
    read
}

/// Whether one of these nodes, not of those inside them, loads a number of memory that others write.
pub fn loads_what_changes(nest: &Nest, nodes: &[Node], others: &[Node]) -> bool {
    let changed = written(others);
    nodes
        .iter()
        .any(|n| matches!(n, Node::Load { from, .. } if changed.iter().any(|b| are_same_memory(nest, *b, from.buffer))))
}

/// Whether all numbers of this memory that nodes use have this register as the index along the same dimension.
fn is_divided_by(nest: &Nest, nodes: &[Node], r: Reg, b: BufferId) -> bool {
    let mut dims: Option<BTreeSet<usize>> = None;
    for (access, _) in all_accesses(nodes) {
        if !are_same_memory(nest, access.buffer(), b) {
            continue;
        }
        let Access::Place(p) = access else { return false };
        let own = (0..p.index.len()).filter(|d| p.index[*d].as_register() == Some(r));
        dims = Some(match &dims {
            None => own.collect(),
            Some(dims) => own.filter(|d| dims.contains(d)).collect(),
        });
    }
    dims.is_some_and(|dims| !dims.is_empty())
}

/// Checks that different tasks, groups or items can execute the iterations of the loop over `var`, while they execute all
/// other iterations of the loops around it. Different iterations must combine different numbers. Those that a split repeats may
/// write the same number again if nothing else writes it.
///
/// # Errors
/// Iterations may read what another one writes, or write the same place.
pub fn are_concurrent(nest: &Nest, var: Reg) -> Result<(), Why> {
    let around = loops_around(&nest.body, var).unwrap_or_default();
    let (Some(outermost), Some(f)) = (around.first(), around.last()) else {
        return Err(Why(format!("there is no loop over x{var}")));
    };
    is_independent_but(nest, outermost, |_| true)?;
    let divided = around.iter().filter(|f| f.var != var && f.bind.divides()).map(|f| f.var);
    let mut values = Values::new(nest, divided);
    values.enter(&nest.body);
    let own = allocated(&f.body);
    let writes: Vec<(BufferId, Option<&Place>, bool)> = writes(&f.body).filter(|w| !own.contains(&w.0)).collect();
    for (b, place, stores) in &writes {
        let alone = *stores && writes.iter().filter(|w| are_same_memory(nest, w.0, *b)).count() == 1;
        if nest.buffers[*b].space == Space::Local {
            return Err(Why(format!("the loop over x{var} changes the local buffer b{b}")));
        }
        if !place.is_some_and(|p| values.separate(f, p, alone)) {
            return Err(Why(format!("iterations over x{var} may change the same number of b{b}")));
        }
    }
    Ok(())
}

/// The buffers that nodes write, where it is one place, and whether a number is stored there.
fn writes(nodes: &[Node]) -> impl Iterator<Item = (BufferId, Option<&Place>, bool)> {
    let mut all = vec![];
    walk(nodes, &mut |n| match n {
        Node::Store { to, .. } => all.push((to.buffer, Some(to), true)),
        Node::Acc { to, .. } => all.push((to.buffer, Some(to), false)),
        Node::AccLanes { all: lanes, .. } => all.extend(lanes.iter().map(|l| (l.1.buffer, Some(&l.1), false))),
        Node::Transpose { to, .. } => all.push((to.buffer, None, false)),
        _ => {}
    });
    all.into_iter()
}

/// What is known about the values of registers, in different iterations at the same time.
struct Values {
    /// The registers that have the same value in all of them.
    fixed: BTreeSet<Reg>,
    /// The differences between the largest and the smallest value of loop variables.
    spans: BTreeMap<Reg, i64>,
    /// The registers that are sums of others, and whether they are kept below a limit.
    sums: BTreeMap<Reg, (Affine, bool)>,
}

impl Values {
    fn new(nest: &Nest, divided: impl Iterator<Item = Reg>) -> Values {
        let fixed = nest.params.iter().map(|p| p.register).chain(divided).collect();
        Values { fixed, spans: BTreeMap::new(), sums: BTreeMap::new() }
    }

    fn enter(&mut self, nodes: &[Node]) {
        walk(nodes, &mut |n| match n {
            Node::For(f) => {
                let span = f
                    .from
                    .as_constant()
                    .zip(f.to.as_constant())
                    .map(|(from, to)| (to - 1 - from).max(0) / f.step * f.step);
                self.spans.extend(span.map(|span| (f.var, span)));
            }
            Node::Index { to, value, limit } => _ = self.sums.insert(*to, (value.clone(), limit.is_some())),
            _ => {}
        });
    }

    /// The sum in terms of registers that are not sums. Whether those that are kept below a limit are sums as well.
    fn resolved(&self, a: &Affine, limited: bool) -> Option<Affine> {
        a.expanded(&|r| self.sums.get(&r).filter(|(_, is_limited)| limited || !is_limited).map(|(own, _)| own))
    }

    /// Whether a place is a different one in all iterations of a loop, or in all that a split does not repeat (`repeats`): in
    /// some dimension, the step of the loop moves it further than all other registers do.
    fn separate(&self, f: &For, p: &Place, repeats: bool) -> bool {
        p.index.iter().filter_map(|i| self.resolved(i, repeats)).any(|i| {
            let others = i.terms.iter().filter(|(r, _)| *r != f.var && !self.fixed.contains(r));
            let span = others.map(|(r, k)| self.spans.get(r)?.checked_mul(k.checked_abs()?)).sum::<Option<i64>>();
            let step = i.factor(f.var).checked_abs().and_then(|k| k.checked_mul(f.step));
            span.zip(step).is_some_and(|(span, step)| span < step)
        })
    }
}

/// Whether two buffers are the same memory, as buffers of the same array are.
pub fn are_same_memory(nest: &Nest, a: BufferId, b: BufferId) -> bool {
    let space = |b: BufferId| nest.buffers[b].space;
    a == b || (!space(a).begins_inside() && space(a) == space(b))
}
