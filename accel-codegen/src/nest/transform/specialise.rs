//! Specialisation: `for i < n { A(i) } = if n == c { for i < c { A(i) } } else { for i < n { A(i) } }`
//!
//! Compilers unroll a loop of constant length.

use super::copy::{Copy, Merge};
use crate::nest::edit::{Why, at_loop, bounds_around};
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;

/// Gives the loop over `var` a copy for its largest number of iterations.
///
/// # Errors
/// This number is not known, or the loop is divided.
pub fn specialise(nest: &Nest, var: Reg) -> Result<Nest, Why> {
    let bounds = bounds_around(&nest.body, var);
    at_loop(nest, var, |nest, f| {
        let most = f.to.as_register().and_then(|r| nest.params.iter().find(|p| p.register == r)?.most);
        if f.bind.divides() {
            return Err(Why(format!("the loop over x{var} is divided")));
        }
        let Some(most) = most else {
            return Err(Why(format!("the loop over x{var} has no largest number of iterations")));
        };
        let is_most = Guard { smaller: Affine::constant(most - 1), larger: f.to.clone() };
        let is_less = Guard { smaller: f.to.clone(), larger: Affine::constant(most) };
        let constant = Node::For(For { to: Affine::constant(most), ..f.clone() });
        let body = Merge::another(nest, bounds, &[constant], &mut Copy::default())?;
        Ok(vec![Node::If { guards: vec![is_most], body }, Node::If { guards: vec![is_less], body: vec![Node::For(f)] }])
    })
}
