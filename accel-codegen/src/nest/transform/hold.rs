//! Held numbers: `for k { a := f(k, a) } = y := a; for k { y := f(k, y) }; a := y`

use crate::nest::edit::{Access, Why, accesses, at_block, is_pure, walk};
use crate::nest::independent::{are_same_memory, read_and_written};
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;

/// Keeps the numbers that the loop over `var` reads and writes in local memory while it is executed.
///
/// # Errors
/// There is none, the loop may have no iteration, or a place depends on the loop, need not exist, or is not read first of all.
pub fn hold(nest: &Nest, var: Reg) -> Result<Nest, Why> {
    at_block(nest, var, |nest, block, at| {
        let Node::For(f) = &mut block[at] else { return Ok(()) };
        if f.from.as_constant().zip(f.to.as_constant()).is_none_or(|(from, to)| from >= to || f.whole) {
            return Err(Why(format!("the loop over x{var} may have no iteration")));
        }
        let (mut before, mut after) = (vec![], vec![]);
        for place in held(nest, f)? {
            let ty = nest.buffers[place.buffer].ty;
            let (local, first, last) = (nest.local(ty, &[]), nest.register(ty), nest.register(ty));
            let own = Place::new(local, vec![]);
            for n in &mut f.body {
                match n {
                    Node::Load { from: p, .. } | Node::Store { to: p, .. } if *p == place => *p = own.clone(),
                    _ => {}
                }
            }
            before.extend([
                Node::Alloc(local),
                Node::Load { to: first, from: place.clone() },
                Node::store(own.clone(), first),
            ]);
            after.extend([Node::Load { to: last, from: own }, Node::store(place, last)]);
        }
        block.splice(at + 1..at + 1, after);
        block.splice(at..at, before);
        Ok(())
    })
}

/// The places that a loop reads and writes.
fn held(nest: &Nest, f: &For) -> Result<Vec<Place>, Why> {
    let mut set = vec![f.var];
    walk(&f.body, &mut |n| set.extend(n.sets()));
    let mut found = vec![];
    for b in read_and_written(nest, &f.body) {
        let all = accesses(&f.body).into_iter().map(|a| a.0).filter(|a| are_same_memory(nest, a.buffer(), b));
        let places: Option<Vec<&Place>> = all.map(|a| if let Access::Place(p) = a { Some(p) } else { None }).collect();
        let Some((first, others)) = places.as_deref().and_then(|p| p.split_first()) else {
            return Err(Why(format!("the loop over x{} transposes b{b}", f.var)));
        };
        // The number is read before the loop: also if it would otherwise be stored first, or if the loop would fail before.
        let first_use = f.body.iter().position(|n| matches!(n, Node::Load { from, .. } if from == *first));
        let is_read_first = first_use.is_some_and(|at| f.body[..at].iter().all(is_pure));
        let is_fixed = first.index.iter().flat_map(|i| &i.terms).all(|(r, _)| !set.contains(r));
        let used = |n: &&Node| matches!(n, Node::Load { from: p, .. } | Node::Store { to: p, around: false, .. } if p == *first);
        let in_order = f.body.iter().filter(used).count() == others.len() + 1;
        if !is_fixed || !in_order || !is_read_first || !first.is_proved() || others.iter().any(|p| p != first) {
            return Err(Why(format!("the loop over x{} uses several numbers of b{b}, or not first of all", f.var)));
        }
        found.push((*first).clone());
    }
    if found.is_empty() {
        Err(Why(format!("the loop over x{} changes nothing that it reads", f.var)))
    } else {
        Ok(found)
    }
}
