//! Finds the loop that a transformation changes.

use super::ir::{Affine, Bounds, BufferId, For, Nest, Node, Place};
use accel_core::repr::op::{Num2, Op2};
use accel_fusion::kernel::{Instr, Reg};
use std::collections::BTreeSet;
use std::fmt;

/// Why a transformation does not apply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why(pub String);

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Why {
    /// A number does not fit in 64 bits.
    pub fn too_large() -> Why {
        Why("a number is too large".into())
    }
}

/// Changes the block with the loop over `var`: `change` gets the nest without its nodes, the block, and the position of
/// the loop.
pub fn at_block(
    nest: &Nest,
    var: Reg,
    change: impl FnOnce(&mut Nest, &mut Vec<Node>, usize) -> Result<(), Why>,
) -> Result<Nest, Why> {
    let mut nest = nest.clone();
    let mut body = std::mem::take(&mut nest.body);
    let Some((block, at)) = find(&mut body, var) else { return Err(Why(format!("there is no loop over x{var}"))) };
    change(&mut nest, block, at)?;
    nest.body = body;
    Ok(nest)
}

/// Replaces the loop over `var` by the nodes that `change` makes of it.
pub fn at_loop(
    nest: &Nest,
    var: Reg,
    change: impl FnOnce(&mut Nest, For) -> Result<Vec<Node>, Why>,
) -> Result<Nest, Why> {
    at_block(nest, var, |nest, block, at| {
        if let Node::For(f) = block.remove(at) {
            let nodes = change(nest, f)?;
            block.splice(at..at, nodes);
        }
        Ok(())
    })
}

fn find(nodes: &mut Vec<Node>, var: Reg) -> Option<(&mut Vec<Node>, usize)> {
    if let Some(at) = nodes.iter().position(|n| matches!(n, Node::For(f) if f.var == var)) {
        return Some((nodes, at));
    }
    nodes.iter_mut().find_map(|n| match n {
        Node::For(For { body, .. }) | Node::If { body, .. } => find(body, var),
        _ => None,
    })
}

/// The loops around the loop over `var`, and this loop, from the outside.
pub fn loops_around(nodes: &[Node], var: Reg) -> Option<Vec<&For>> {
    nodes.iter().find_map(|n| {
        let Node::For(f) = n else { return loops_around(n.inner(), var) };
        if f.var == var {
            return Some(vec![f]);
        }
        loops_around(&f.body, var).map(|inner| [vec![f], inner].concat())
    })
}

/// The loops around the loop over `var`, with the numbers that their variables stay below.
pub fn bounds_around(nodes: &[Node], var: Reg) -> Vec<(Reg, Affine)> {
    let loops = loops_around(nodes, var).unwrap_or_default();
    loops.into_iter().filter(|f| f.var != var).map(|f| (f.var, f.to.clone())).collect()
}

/// All nodes, each before those inside it.
pub fn walk<'n>(nodes: &'n [Node], visit: &mut dyn FnMut(&'n Node)) {
    for n in nodes {
        visit(n);
        walk(n.inner(), visit);
    }
}

/// All loops, each before those inside it.
pub fn loops(nodes: &[Node]) -> Vec<&For> {
    let mut found = vec![];
    walk(nodes, &mut |n| {
        if let Node::For(f) = n {
            found.push(f);
        }
    });
    found
}

/// Whether items wait for each other.
pub fn waits(nodes: &[Node]) -> bool {
    let mut found = false;
    walk(nodes, &mut |n| found |= matches!(n, Node::Barrier));
    found
}

/// The buffers that nodes write.
pub fn written(nodes: &[Node]) -> BTreeSet<BufferId> {
    let mut found = BTreeSet::new();
    walk(nodes, &mut |n| match n {
        Node::Store { to, .. } | Node::Acc { to, .. } | Node::Transpose { to, .. } => _ = found.insert(to.buffer),
        Node::AccLanes { all, .. } => found.extend(all.iter().map(|a| a.1.buffer)),
        _ => {}
    });
    found
}

/// What a node reads or writes.
pub enum Access<'n> {
    /// The number at a place.
    Place(&'n Place),
    /// Several numbers of a buffer.
    Part(BufferId),
}

impl Access<'_> {
    /// The buffer.
    pub fn buffer(&self) -> BufferId {
        match self {
            Access::Place(p) => p.buffer,
            Access::Part(b) => *b,
        }
    }
}

/// All numbers that nodes read, and those that they write (`true`), except those of buffers that begin inside.
pub fn accesses(nodes: &[Node]) -> Vec<(Access<'_>, bool)> {
    let own = allocated(nodes);
    all_accesses(nodes).into_iter().filter(|(of, _)| !own.contains(&of.buffer())).collect()
}

/// All numbers that nodes read, and those that they write (`true`).
pub fn all_accesses(nodes: &[Node]) -> Vec<(Access<'_>, bool)> {
    let mut found = vec![];
    walk(nodes, &mut |n| match n {
        Node::Load { from, .. } => found.push((Access::Place(from), false)),
        Node::Store { to, .. } | Node::Acc { to, .. } => found.push((Access::Place(to), true)),
        Node::AccLanes { all, .. } => {
            found.extend(all.iter().flat_map(|(_, to, from)| [(Access::Place(to), true), (Access::Part(*from), false)]))
        }
        Node::Transpose { to, from, .. } => {
            found.extend([(Access::Part(to.buffer), true), (Access::Part(from.buffer), false)]);
        }
        Node::For(_)
        | Node::Let(_)
        | Node::Index { .. }
        | Node::Prefetch(_)
        | Node::Alloc(_)
        | Node::Fail(_)
        | Node::Barrier
        | Node::If { .. } => {}
    });
    found
}

/// The buffers that begin inside.
pub fn allocated(nodes: &[Node]) -> BTreeSet<BufferId> {
    let mut found = BTreeSet::new();
    walk(nodes, &mut |n| {
        if let Node::Alloc(b) = n {
            found.insert(*b);
        }
    });
    found
}

/// Whether a node does nothing but set registers. Divisions can fail if they are of integers, and so do indices that
/// are checked.
pub fn is_pure(n: &Node) -> bool {
    match n {
        Node::Index { .. } => true,
        Node::Load { from, .. } => !matches!(from.bounds, Bounds::Checked(_)),
        Node::Let(Instr::Op2(_, op, ..)) => !matches!(op, Op2::Num(Num2::Div | Num2::Rem)),
        Node::Let(i) => matches!(i, Instr::Const(..) | Instr::Op1(..) | Instr::Extent(..)),
        Node::For(_)
        | Node::Store { .. }
        | Node::Prefetch(_)
        | Node::Acc { .. }
        | Node::AccLanes { .. }
        | Node::Transpose { .. }
        | Node::Alloc(_)
        | Node::Fail(_)
        | Node::Barrier
        | Node::If { .. } => false,
    }
}
