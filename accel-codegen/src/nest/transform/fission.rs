//! Fission: `for i < n { A(i); B(i) } = for i < n { A(i) }; for i < n { B(i) }`
//!
//! What only sets registers is computed in both loops.

use super::copy::{Copy, Merge};
use super::tidy::used;
use crate::nest::edit::{Why, accesses, allocated, at_block, bounds_around, is_pure};
use crate::nest::independent::{keep_to_their_iterations, loads_what_changes};
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;
use std::collections::BTreeSet;

/// Divides the loop over `var`: the first `count` nodes of its body that do more than set registers, and all others.
/// Returns the nest, and the variable of the second loop.
///
/// # Errors
/// A part would be empty, an iteration of one part needs what another iteration of the other part writes, or the second part
/// needs a register that is computed once, as the result of a division is.
pub fn fission(nest: &Nest, var: Reg, count: usize) -> Result<(Nest, Reg), Why> {
    let mut second = Reg::NONE;
    let bounds = bounds_around(&nest.body, var);
    let nest = at_block(nest, var, |nest, block, at| {
        let Node::For(f) = &block[at] else { return Ok(()) };
        let effects: Vec<usize> = (0..f.body.len()).filter(|k| !is_pure(&f.body[*k])).collect();
        let Some(end) = count.checked_sub(1).and_then(|k| effects.get(k)).filter(|_| count < effects.len()) else {
            return Err(Why(format!("the loop over x{var} does not have more than {count} parts")));
        };
        if f.bind != Bind::Seq {
            return Err(Why(format!("the loop over x{var} is bound")));
        }
        let (a, b) = f.body.split_at(end + 1);
        let shared = a.iter().filter(|n| is_pure(n)).cloned();
        let whole: Vec<Node> = shared.chain(b.iter().cloned()).collect();
        keep_to_their_iterations(nest, (var, a), (var, &whole))?;
        let own: BTreeSet<BufferId> = allocated(a);
        if accesses(&whole).iter().any(|(of, _)| own.contains(&of.buffer())) {
            return Err(Why(format!("a buffer that begins in the loop over x{var} is used in both parts")));
        }
        let (set, used) = (a.iter().filter(|n| !is_pure(n)).flat_map(Node::sets), used(&whole));
        if let Some(r) = set.into_iter().find(|r| used.contains(r)) {
            return Err(Why(format!(
                "the second part of the loop over x{var} uses x{r}, which only the first one sets"
            )));
        }
        // What the second loop loads again, the first one must not change.
        if loads_what_changes(nest, a, a) {
            return Err(Why(format!("the first part of the loop over x{var} changes what it loads")));
        }
        let (a, head) = (a.to_vec(), f.clone());
        let rest = For { body: whole, ..head.clone() };
        let mut copy = Copy::default();
        let copied = Merge::another(nest, bounds, &[Node::For(rest)], &mut copy)?;
        second = copy.register(var).unwrap_or(var);
        block.splice(at..at + 1, std::iter::once(Node::For(For { body: a, ..head })).chain(copied));
        Ok(())
    })?;
    Ok((nest, second))
}
