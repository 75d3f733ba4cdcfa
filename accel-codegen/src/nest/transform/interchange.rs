//! Interchange: `for i { for j { A(i, j) } } = for j { for i { A(i, j) } }`

use crate::nest::divided::check;
use crate::nest::edit::{Why, at_loop, is_pure};
use crate::nest::independent::{are_independent, loads_what_changes};
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;

/// Exchanges the loop over `var` with the only loop in it. Nodes before the inner loop that only set registers go into it.
///
/// # Errors
/// There are other nodes, the bounds of the inner loop depend on the outer one, iterations of both loops depend on each other, or
/// divided loops would be in another order.
pub fn interchange(nest: &Nest, var: Reg) -> Result<Nest, Why> {
    let exchanged = at_loop(nest, var, |nest, mut f| {
        let Some(Node::For(inner)) = f.body.pop() else {
            return Err(Why(format!("the loop over x{var} does not end with a loop")));
        };
        if !f.body.iter().all(is_pure) {
            return Err(Why(format!("the loop over x{var} does more than another loop")));
        }
        // What is loaded once, the inner loop must not change.
        if loads_what_changes(nest, &f.body, &inner.body) {
            return Err(Why(format!("the loop over x{} changes what is loaded before it", inner.var)));
        }
        let set: Vec<Reg> = f.body.iter().flat_map(Node::sets).chain([var]).collect();
        if set.iter().any(|r| inner.from.contains(*r) || inner.to.contains(*r)) {
            return Err(Why(format!("the bounds of the loop over x{} depend on x{var}", inner.var)));
        }
        // If the iterations of either loop are independent, those that depend on each other are executed in the same order.
        let own = For { body: [f.body, inner.body].concat(), ..f };
        let inner = For { body: own.body.clone(), ..inner };
        are_independent(nest, &own).or_else(|why| are_independent(nest, &inner).map_err(|_| why))?;
        Ok(vec![Node::For(For { body: vec![Node::For(own)], ..inner })])
    })?;
    check(&exchanged).map_err(Why)?;
    Ok(exchanged)
}
