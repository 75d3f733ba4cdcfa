//! Unswitching: `for i < n { A(i); if c { B(i) } } = if c { for i < n { A(i); B(i) } }; if !c { for i < n { A(i) } }`
//!
//! The condition `c` does not depend on the loop.

use super::copy::{Copy, Merge};
use crate::nest::edit::{Why, at_loop, bounds_around, waits, walk};
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;
use std::collections::BTreeSet;

/// Tests a condition outside the loop over `var`: the first one there that does not depend on the loop.
///
/// # Errors
/// There is none, or items wait for each other in the loop.
pub fn unswitch(nest: &Nest, var: Reg) -> Result<Nest, Why> {
    let bounds = bounds_around(&nest.body, var);
    at_loop(nest, var, |nest, f| {
        if waits(&f.body) {
            return Err(Why(format!("items wait for each other in the loop over x{var}")));
        }
        let (mut set, mut guards) = (BTreeSet::from([var]), vec![]);
        walk(&f.body, &mut |n| {
            set.extend(n.sets());
            if let Node::If { guards: of, .. } = n {
                guards.extend(of.iter().cloned());
            }
        });
        let is_fixed = |g: &Guard| g.sides().iter().all(|s| s.terms.iter().all(|(r, _)| !set.contains(r)));
        let Some(guard) = guards.into_iter().find(is_fixed) else {
            return Err(Why(format!("all conditions in the loop over x{var} depend on it")));
        };
        let opposite = Guard {
            smaller: guard.larger.clone(),
            larger: guard.smaller.plus(&Affine::constant(1), 1).ok_or_else(Why::too_large)?,
        };
        let (mut holds, mut fails) = (f.body.clone(), f.body.clone());
        decide(&mut holds, &guard, true);
        decide(&mut fails, &guard, false);
        let fails = Node::For(For { body: fails, ..f.clone() });
        let fails = Merge::another(nest, bounds, &[fails], &mut Copy::default())?;
        let holds = vec![Node::For(For { body: holds, ..f })];
        Ok(vec![Node::If { guards: vec![guard], body: holds }, Node::If { guards: vec![opposite], body: fails }])
    })
}

/// Leaves out a condition that holds, or what depends on it if it does not.
fn decide(nodes: &mut Vec<Node>, guard: &Guard, holds: bool) {
    let mut all = vec![];
    for mut n in std::mem::take(nodes) {
        match &mut n {
            Node::If { guards, .. } if !holds && guards.contains(guard) => continue,
            Node::If { guards, body } => {
                guards.retain(|g| g != guard);
                decide(body, guard, holds);
                if guards.is_empty() {
                    all.append(body);
                    continue;
                }
            }
            Node::For(f) => decide(&mut f.body, guard, holds),
            Node::AccLanes { all: lanes, .. } => {
                lanes.retain(|(guards, ..)| holds || !guards.contains(guard));
                lanes.iter_mut().for_each(|(guards, ..)| guards.retain(|g| g != guard));
            }
            _ => {}
        }
        all.push(n);
    }
    *nodes = all;
}
