//! How the work of a nest is divided among tasks, groups and items.
//!
//! All tasks, groups and items execute the same nest. Each executes its own iterations of the loops that are bound to them,
//! and all of the rest. So whatever is written, except local memory, must be inside loops that divide it in every way in which
//! the nest is divided: otherwise it would be written several times.

use super::edit::loops;
use super::ir::*;
use std::collections::BTreeSet;

/// Checks that a nest is divided completely.
///
/// # Errors
/// A loop has bounds that its binding does not allow, loops are nested in another order, or a node outside them writes.
pub fn check(nest: &Nest) -> Result<(), String> {
    let all = loops(&nest.body);
    all.iter().try_for_each(|f| head(nest, f).map_err(|e| format!("for x{}: {e}", f.var)))?;
    let tasks: Vec<&&For> = all.iter().filter(|f| f.bind == Bind::Parallel).collect();
    if let Some(other) = tasks.iter().find(|f| (&f.to, f.step) != (&tasks[0].to, tasks[0].step)) {
        return Err(format!("the parallel loops over x{} and x{} have different ranges", tasks[0].var, other.var));
    }
    let ways = all.iter().map(|f| f.bind).filter(|b| b.divides()).collect();
    Division { nest, ways: &ways }.nodes(&nest.body, &mut vec![])
}

/// Checks the bounds of a loop.
fn head(nest: &Nest, f: &For) -> Result<(), String> {
    let (from, to) = (f.from.as_constant(), f.to.as_constant());
    let is_param = |r| nest.params.iter().any(|p| p.register == r);
    match f.bind {
        Bind::Seq => Ok(()),
        Bind::Vector if from != Some(0) || to.is_none_or(|n| n < 1) || f.step != 1 => {
            Err("a vector loop that is not from 0 to a positive constant by 1".into())
        }
        Bind::Item(_) if from != Some(0) || to.is_none_or(|n| n < 1) => {
            Err("a loop over items that is not from 0 to a positive constant".into())
        }
        Bind::Unroll if from.zip(to).is_none_or(|(from, to)| from >= to) => {
            Err("an unrolled loop without a constant number of iterations".into())
        }
        Bind::Parallel if !f.to.terms.iter().all(|t| is_param(t.0)) => {
            Err("the range of a parallel loop is not known outside".into())
        }
        Bind::Parallel | Bind::Group(_) | Bind::Item(_) if from != Some(0) || f.whole => {
            Err("a divided loop that does not begin at 0, or leaves out its last step".into())
        }
        Bind::Group(dim) | Bind::Item(dim) if dim > 2 => Err("groups and items have three dimensions".into()),
        Bind::Vector | Bind::Unroll | Bind::Parallel | Bind::Group(_) | Bind::Item(_) => Ok(()),
    }
}

struct Division<'n> {
    nest: &'n Nest,
    /// All ways in which the nest is divided.
    ways: &'n BTreeSet<Bind>,
}

impl Division<'_> {
    /// Checks nodes inside loops that are bound in these ways.
    fn nodes(&self, nodes: &[Node], around: &mut Vec<Bind>) -> Result<(), String> {
        for n in nodes {
            if let Some(missing) = self.writes(n).then(|| self.ways.iter().find(|w| !around.contains(w))).flatten() {
                return Err(format!("a node that writes is outside the loops that are divided ({missing})"));
            }
            let Node::For(f) = n else {
                self.nodes(n.inner(), around)?;
                continue;
            };
            self.order(f, around).map_err(|e| format!("for x{}: {e}", f.var))?;
            around.push(f.bind);
            self.nodes(&f.body, around)?;
            around.pop();
        }
        Ok(())
    }

    /// Checks that a loop may be inside loops that are bound in these ways.
    fn order(&self, f: &For, around: &[Bind]) -> Result<(), String> {
        let is_item = |b: &Bind| matches!(b, Bind::Item(_));
        match f.bind {
            Bind::Vector if around.contains(&Bind::Vector) => Err("a vector loop in another one".into()),
            b if b.divides() && around.contains(&Bind::Vector) => Err("a divided loop in a vector loop".into()),
            b if b.divides() && around.contains(&b) => Err(format!("a loop ({b}) in another one")),
            Bind::Group(_) if around.iter().any(is_item) => Err("groups inside items".into()),
            _ => Ok(()),
        }
    }

    /// Whether a node changes more than registers and local memory.
    fn writes(&self, n: &Node) -> bool {
        let is_common = |b: BufferId| self.nest.buffers[b].space != Space::Local;
        match n {
            Node::Store { to, .. } | Node::Acc { to, .. } | Node::Transpose { to, .. } => is_common(to.buffer),
            Node::AccLanes { all, .. } => all.iter().any(|a| is_common(a.1.buffer)),
            Node::Barrier => true,
            Node::For(_)
            | Node::Let(_)
            | Node::Index { .. }
            | Node::Load { .. }
            | Node::Prefetch(_)
            | Node::Alloc(_)
            | Node::Fail(_)
            | Node::If { .. } => false,
        }
    }
}
