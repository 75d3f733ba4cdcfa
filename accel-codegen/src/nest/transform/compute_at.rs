//! Computation where it is used:
//! `for p < n { A(p) }; for c { B(c) } = for c { for p in the part that B(c) reads { A(p) }; B(c) }`
//!
//! `A(p)` writes `t[.., p, ..]`, and `B(c)` reads an interval of constant extent of it.

use super::copy::{Copy, Merge};
use super::part::{Dimension, Registers};
use crate::nest::edit::{Access, Why, accesses, all_accesses, at_block, bounds_around, loops_around, walk};
use crate::nest::independent::are_same_memory;
use crate::nest::ir::*;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::Reg;

/// Computes what the loop over `producer` writes to `buffer` in the iterations of the loop over `consumer`, which comes later
/// and reads it.
///
/// # Errors
/// The producer does something else, what it reads is changed, the buffer is used elsewhere, or what an iteration of the
/// consumer reads is no interval that the producer computes.
pub fn compute_at(nest: &Nest, producer: Reg, buffer: BufferId, consumer: Reg) -> Result<Nest, Why> {
    let missing = |r: Reg| Why(format!("there is no loop over x{r}"));
    let around = loops_around(&nest.body, consumer).ok_or_else(|| missing(consumer))?;
    let p = loops_around(&nest.body, producer).and_then(|l| l.last().copied()).ok_or_else(|| missing(producer))?;
    let c = around.last().copied().ok_or_else(|| missing(consumer))?;
    if p.from.as_constant() != Some(0) || p.step != 1 || p.whole || p.bind != Bind::Seq {
        return Err(Why(format!("the loop over x{producer} is not from 0 by 1, or is bound")));
    }
    produces_only(nest, p, buffer)?;
    used_only_there(nest, p, c, buffer)?;
    let (part, at_once) = part(nest, p, &around, buffer)?;
    let is_local = nest.buffers[buffer].space == Space::Local;
    if !is_local && around.iter().any(|f| f.bind.divides()) {
        return Err(Why(format!("b{buffer} is not local, and the loop over x{consumer} is divided")));
    }
    let (covers, stores) = (covers(p, c, &part), stores_only(p, buffer));
    let bounds = bounds_around(&nest.body, consumer);
    let mut moved = vec![];
    let mut why = Some(format!("the loop over x{consumer} does not follow that over x{producer}"));
    let without = at_block(nest, producer, |_, block, at| {
        moved.push(block.remove(at));
        let rest = &block[at..];
        let once = covers && rest.iter().any(|n| matches!(n, Node::For(f) if f.var == consumer));
        why = match () {
            () if loops_around(rest, consumer).is_none() => return Ok(()),
            () if !once && !is_local => Some(format!("the loop over x{consumer} may not compute all of b{buffer}")),
            () if !once && !stores => Some(format!("the loop over x{consumer} combines numbers of b{buffer} again")),
            () => None,
        };
        Ok(())
    })?;
    if let Some(why) = why {
        return Err(Why(why));
    }
    at_block(&without, consumer, |nest, block, at| {
        let Node::For(c) = &mut block[at] else { return Ok(()) };
        let Some(Node::For(mut p)) = moved.pop() else { return Ok(()) };
        let own = match at_once {
            true => {
                let bounds = [bounds, vec![(consumer, c.to.clone())]].concat();
                Merge::replacements(nest, bounds, &p.body, &mut [Copy::with(producer, part.base)])?
            }
            false => {
                let end = nest.register(ScalarType::I64);
                let value = part.base.plus(&Affine::constant(part.extent), 1).ok_or_else(Why::too_large)?;
                let limit = p.to.plus(&Affine::constant(1), 1);
                (p.from, p.to) = (part.base, end.into());
                vec![Node::Index { to: end, value, limit }, Node::For(p)]
            }
        };
        c.body.splice(0..0, own);
        Ok(())
    })
}

/// Checks that a loop writes nothing but its own part of a buffer, and that what else it reads does not change.
fn produces_only(nest: &Nest, p: &For, buffer: BufferId) -> Result<(), Why> {
    let all = all_accesses(&nest.body);
    for (of, writes) in accesses(&p.body) {
        let b = of.buffer();
        let changes = || all.iter().any(|(other, writes)| *writes && are_same_memory(nest, other.buffer(), b));
        if b != buffer && (writes || changes()) {
            return Err(Why(format!("the loop over x{} writes b{b}, or reads it while it changes", p.var)));
        }
    }
    Ok(())
}

/// Checks that only the loop `p` writes a buffer, and only the loop `c` reads it otherwise.
fn used_only_there(nest: &Nest, p: &For, c: &For, buffer: BufferId) -> Result<(), Why> {
    let uses = |nodes: &[Node]| -> Vec<bool> {
        let all = all_accesses(nodes).into_iter();
        all.filter(|(of, _)| are_same_memory(nest, of.buffer(), buffer)).map(|(_, writes)| writes).collect()
    };
    let (own, read) = (uses(&p.body), uses(&c.body));
    match read.contains(&true) || uses(&nest.body).len() != own.len() + read.len() || read.is_empty() {
        true => Err(Why(format!("b{buffer} is used outside the loops over x{} and x{}", p.var, c.var))),
        false => Ok(()),
    }
}

/// The part that an iteration of the innermost loop of `around` reads, in the dimension of the producer `p`. Whether it is one
/// number, which `p` computes.
fn part(nest: &Nest, p: &For, around: &[&For], buffer: BufferId) -> Result<(Dimension, bool), Why> {
    let c = around.last().map_or(p, |c| c);
    let no_part = || Why(format!("an iteration over x{} does not read one part of b{buffer} from x{}", c.var, p.var));
    let places = |nodes| -> Option<Vec<&Place>> {
        let all = all_accesses(nodes).into_iter().filter(|(of, _)| of.buffer() == buffer);
        all.map(|(of, _)| if let Access::Place(p) = of { Some(p).filter(|p| p.is_proved()) } else { None }).collect()
    };
    let (written, read) = (places(&p.body).ok_or_else(no_part)?, places(&c.body).ok_or_else(no_part)?);
    let of_producer = Registers::of(&p.body, &[]);
    let is_own = |d: &usize| written.iter().all(|w| of_producer.resolved(&w.index[*d]) == Some(p.var.into()));
    let dim = (0..nest.buffers[buffer].extents.len()).find(is_own).ok_or_else(no_part)?;
    let of_consumer = Registers::of(&c.body, &[]);
    // Whether a sum is below another one because a loop variable is below the end of its loop.
    let is_below = |a: &Affine, b: &Affine| {
        let room = |f: &For| f.to.plus(&f.var.into(), -1);
        b.plus(a, -1).is_some_and(|d| around.iter().any(|f| room(f).as_ref() == Some(&d)))
    };
    // If the part begins below a limit, it is no larger for being kept below it.
    let unlimited = |d: Dimension| match &d.limit {
        Some(limit) if !is_below(&d.base, limit) => None,
        _ => Some(Dimension { limit: None, ..d }),
    };
    let all: Option<Vec<Dimension>> = read.iter().map(|r| unlimited(of_consumer.dimension(&r.index[dim])?.0)).collect();
    let part = Dimension::union(all.ok_or_else(no_part)?.iter()).ok_or_else(no_part)?;
    let is_natural = |r: Reg| match around.iter().find(|f| f.var == r) {
        Some(f) => f.from.as_constant().is_some_and(|n| n >= 0),
        None => nest.params.iter().any(|p| p.register == r),
    };
    if part.base.constant < 0 || !part.base.terms.iter().all(|(r, k)| *k > 0 && is_natural(*r)) {
        return Err(no_part());
    }
    let at_once = part.extent == 1 && is_below(&part.base, &p.to);
    Ok((part, at_once))
}

/// Whether the iterations of `c` read all that `p` computes, and each number once.
fn covers(p: &For, c: &For, part: &Dimension) -> bool {
    let all = part.base.as_register() == Some(c.var) && part.extent == c.step;
    all && c.from.as_constant() == Some(0) && c.to == p.to && !c.whole
}

/// Whether a loop does not use the numbers of a buffer before it stores others.
fn stores_only(p: &For, buffer: BufferId) -> bool {
    let mut uses = vec![];
    walk(&p.body, &mut |n| match n {
        Node::Load { from: place, .. } | Node::Acc { to: place, .. } => uses.push(place.buffer),
        Node::AccLanes { all, .. } => uses.extend(all.iter().map(|a| a.1.buffer)),
        _ => {}
    });
    !uses.contains(&buffer)
}
