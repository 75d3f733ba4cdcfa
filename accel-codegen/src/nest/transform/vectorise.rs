//! Vectors: the iterations of a loop become the elements of vectors.

use crate::nest::edit::{Why, at_loop, walk};
use crate::nest::independent::are_independent;
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;

/// Binds the loop over `var` to vectors.
///
/// # Errors
/// The loop is not from 0 to a constant by 1, it contains lanes of another one, or iterations depend on each other.
pub fn vectorise(nest: &Nest, var: Reg) -> Result<Nest, Why> {
    at_loop(nest, var, |nest, f| {
        if f.from.as_constant() != Some(0) || f.to.as_constant().is_none() || f.step != 1 {
            return Err(Why(format!("the loop over x{var} is not from 0 to a constant by 1")));
        }
        are_independent(nest, &f)?;
        let mut others = false;
        walk(&f.body, &mut |n| {
            others |= matches!(n, Node::AccLanes { .. } | Node::For(For { bind: Bind::Vector, .. }));
        });
        match others {
            true => Err(Why(format!("the loop over x{var} contains vectors already"))),
            false => Ok(vec![Node::For(For { bind: Bind::Vector, ..f })]),
        }
    })
}
