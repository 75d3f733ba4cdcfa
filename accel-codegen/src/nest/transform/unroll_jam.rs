//! Unroll and jam: `for i { A(i) for k { B(i, k) } } = A(0) A(1) .. for k { B(0, k) B(1, k) .. }`
//!
//! The loop has a constant number of iterations. Values that its iterations have in common are computed once. Iterations that
//! depend on each other are executed one after the other: `for i { A(i) B(i) } = A(0) B(0) A(1) B(1) ..`

use super::copy::{Copy, Merge};
use crate::nest::edit::{Why, at_loop, bounds_around, waits};
use crate::nest::independent::are_independent;
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;

/// Replaces the loop over `var` by copies of its body, merged loop by loop if iterations are independent.
///
/// # Errors
/// The number of iterations is not a constant, items wait for each other, or bounds of inner loops differ.
pub fn unroll_jam(nest: &Nest, var: Reg) -> Result<Nest, Why> {
    let bounds = bounds_around(&nest.body, var);
    at_loop(nest, var, |nest, f| {
        let (Some(from), Some(to)) = (f.from.as_constant(), f.to.as_constant()) else {
            return Err(Why(format!("the bounds of the loop over x{var} are not constants")));
        };
        if f.bind != Bind::Seq {
            return Err(Why(format!("the loop over x{var} is bound")));
        }
        if waits(&f.body) {
            return Err(Why(format!("items wait for each other in the loop over x{var}")));
        }
        let merges = are_independent(nest, &f).is_ok();
        let values = (from..to).step_by(f.step as usize).filter(|i| !f.whole || i + f.step <= to);
        let mut copies: Vec<Copy> = values.map(|i| Copy::with(var, Affine::constant(i))).collect();
        match merges {
            true => Merge::replacements(nest, bounds, &f.body, &mut copies),
            false => Merge::one_after_the_other(nest, bounds, &f.body, &mut copies),
        }
    })
}
