//! Hints about memory: `A = A`, but `A` takes another time.

use super::part::Registers;
use crate::nest::edit::{Why, at_loop};
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;

/// Makes all stores to a buffer bypass the caches.
///
/// # Errors
/// There is none, or the buffer is not in memory from outside.
pub fn nontemporal(nest: &Nest, buffer: BufferId) -> Result<Nest, Why> {
    fn mark(nodes: &mut [Node], buffer: BufferId) -> usize {
        let one = |n: &mut Node| match n {
            Node::For(For { body, .. }) | Node::If { body, .. } => mark(body, buffer),
            Node::Store { to, around, .. } if to.buffer == buffer => {
                *around = true;
                1
            }
            _ => 0,
        };
        nodes.iter_mut().map(one).sum()
    }
    let mut nest = nest.clone();
    if nest.buffers[buffer].space.begins_inside() || mark(&mut nest.body, buffer) == 0 {
        return Err(Why(format!("nothing is stored to b{buffer}, or it is not in memory from outside")));
    }
    Ok(nest)
}

/// Requests what the loop over `var` reads from a buffer `ahead` iterations later.
///
/// # Errors
/// It reads nothing there that depends on the loop, or the buffer is not in memory from outside.
pub fn prefetch(nest: &Nest, var: Reg, buffer: BufferId, ahead: i64) -> Result<Nest, Why> {
    at_loop(nest, var, |nest, mut f| {
        let later = Affine::constant(ahead.checked_mul(f.step).ok_or_else(Why::too_large)?);
        let later = later.plus(&var.into(), 1).ok_or_else(Why::too_large)?;
        let registers = Registers::of(&f.body, &[]);
        let place = |p: &Place| -> Option<Place> {
            // Near the end of the loop, an index may be beyond a limit. Then the number is not needed.
            let index = p.index.iter().map(|i| registers.unlimited(i)?.replaced(var, &later));
            let index = index.collect::<Option<Vec<_>>>().filter(|_| p.buffer == buffer)?;
            let moves = p.index.iter().any(|i| registers.unlimited(i).is_some_and(|i| i.contains(var)));
            moves.then_some(Place::new(buffer, index))
        };
        if nest.buffers[buffer].space.begins_inside() || request(&mut f.body, &place) == 0 {
            return Err(Why(format!("the loop over x{var} does not read from b{buffer} as it goes on")));
        }
        Ok(vec![Node::For(f)])
    })
}

/// Adds a request before each number that is read, if `place` has one for it.
fn request(nodes: &mut Vec<Node>, place: &dyn Fn(&Place) -> Option<Place>) -> usize {
    let mut count = 0;
    for mut n in std::mem::take(nodes) {
        if let Node::For(For { body, .. }) | Node::If { body, .. } = &mut n {
            count += request(body, place);
        }
        if let Node::Load { from, .. } = &n
            && let Some(p) = place(from)
        {
            nodes.push(Node::Prefetch(p));
            count += 1;
        }
        nodes.push(n);
    }
    count
}
