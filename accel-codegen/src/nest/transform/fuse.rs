//! Fusion: `for i < n { A(i) }; for j < n { B(j) } = for i < n { A(i); B(i) }`

use super::copy::{Copy, Merge};
use crate::nest::edit::{Why, at_block, bounds_around};
use crate::nest::independent::keep_to_their_iterations;
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;

/// Moves the body of the loop that follows the loop over `var` into this. Returns the nest, and the variable of the loop
/// that is gone.
///
/// # Errors
/// No loop with the same range follows, or an iteration of one loop needs what another iteration of the other one writes.
pub fn fuse(nest: &Nest, var: Reg) -> Result<(Nest, Reg), Why> {
    let mut gone = Reg::NONE;
    let bounds = bounds_around(&nest.body, var);
    let nest = at_block(nest, var, |nest, block, at| {
        let (Some(Node::For(first)), Some(Node::For(next))) = (block.get(at), block.get(at + 1)) else {
            return Err(Why(format!("no loop follows that over x{var}")));
        };
        let range = |f: &For| (f.from.clone(), f.to.clone(), f.step, f.whole, f.bind);
        if range(first) != range(next) || first.bind != Bind::Seq {
            return Err(Why(format!("the loops over x{var} and x{} have different ranges", next.var)));
        }
        keep_to_their_iterations(nest, (var, &first.body), (next.var, &next.body))?;
        gone = next.var;
        let mut copy = [Copy::with(next.var, var.into())];
        let body = next.body.clone();
        let moved = Merge::replacements(nest, bounds, &body, &mut copy)?;
        block.remove(at + 1);
        if let Node::For(first) = &mut block[at] {
            first.body.extend(moved);
        }
        Ok(())
    })?;
    Ok((nest, gone))
}
