//! Accumulators: `for k { a . x(k) } = y := neutral; for k { y . x(k) }; a . y`
//!
//! If a store of `z` to `a` comes just before the loop, the accumulator begins with `z`, and is stored afterwards.

use crate::nest::edit::{Why, accesses, at_block, walk};
use crate::nest::independent::are_same_memory;
use crate::nest::ir::*;
use accel_fusion::kernel::{Instr, Monoid, Reg};

/// Gives the loop over `var` a local accumulator for the number that it combines.
///
/// # Errors
/// The loop does not combine exactly one number, its place depends on the loop, or the loop uses other numbers of its buffer.
pub fn accumulate(nest: &Nest, var: Reg) -> Result<Nest, Why> {
    at_block(nest, var, |nest, block, at| {
        let Node::For(f) = &mut block[at] else { return Ok(()) };
        let (place, monoid, guards) = target(nest, f)?;
        let ty = nest.buffers[place.buffer].ty;
        let local = nest.local(ty, &[]);
        let own = Place::new(local, vec![]);
        redirect(&mut f.body, &own);
        let before = at.checked_sub(1).and_then(|k| match &block[k] {
            Node::Store { to, value, .. } if *to == place && guards.is_empty() => Some((k, *value)),
            _ => None,
        });
        let mut start = vec![Node::Alloc(local)];
        match before {
            Some((k, value)) => {
                start.push(Node::store(own.clone(), value));
                let last = nest.register(ty);
                let end = [Node::Load { to: last, from: own }, Node::store(place, last)];
                block.splice(at + 1..at + 1, end);
                block.splice(k..at, start);
            }
            None => {
                let neutral = nest.register(ty);
                start.push(Node::Let(Instr::Const(neutral, monoid.neutral(ty))));
                start.push(Node::store(own.clone(), neutral));
                let last = nest.register(ty);
                let sum = Node::Acc { to: place, monoid, value: last, times: None };
                let sum = if guards.is_empty() { sum } else { Node::If { guards, body: vec![sum] } };
                block.splice(at + 1..at + 1, [Node::Load { to: last, from: own }, sum]);
                block.splice(at..at, start);
            }
        }
        Ok(())
    })
}

/// The number that a loop combines, by what, and the guards.
pub fn target(nest: &Nest, f: &For) -> Result<(Place, Monoid, Vec<Guard>), Why> {
    let (mut set, mut all) = (vec![f.var], vec![]);
    walk(&f.body, &mut |n| set.extend(n.sets()));
    combined(&f.body, &[], &mut all);
    let count = all.len();
    let Some((place, monoid, guards)) = all.pop().filter(|_| count == 1) else {
        return Err(Why(format!("the loop over x{} combines {count} numbers", f.var)));
    };
    let sums = place.index.iter().chain(guards.iter().flat_map(Guard::sides));
    if sums.flat_map(|s| &s.terms).any(|(r, _)| set.contains(r))
        || nest.buffers[place.buffer].space == Space::Local
        || matches!(place.bounds, Bounds::Checked(_))
    {
        return Err(Why(format!("the number that is combined depends on the loop over x{}", f.var)));
    }
    if accesses(&f.body).iter().filter(|(a, _)| are_same_memory(nest, a.buffer(), place.buffer)).count() != 1 {
        return Err(Why(format!("the loop over x{} also uses other numbers of b{}", f.var, place.buffer)));
    }
    Ok((place, monoid, guards))
}

/// What is combined, by what, and all guards around it.
fn combined(nodes: &[Node], guards: &[Guard], all: &mut Vec<(Place, Monoid, Vec<Guard>)>) {
    for n in nodes {
        match n {
            Node::Acc { to, monoid, .. } => all.push((to.clone(), *monoid, guards.to_vec())),
            Node::If { guards: more, body } => combined(body, &[guards, more].concat(), all),
            n => combined(n.inner(), guards, all),
        }
    }
}

/// Combines another number instead, without guards of its own.
pub fn redirect(nodes: &mut [Node], to: &Place) {
    for n in nodes {
        match n {
            Node::Acc { to: place, .. } => *place = to.clone(),
            Node::If { body, .. } if matches!(body[..], [Node::Acc { .. }]) => {
                redirect(body, to);
                *n = body.remove(0);
            }
            Node::For(For { body, .. }) | Node::If { body, .. } => redirect(body, to),
            _ => {}
        }
    }
}
