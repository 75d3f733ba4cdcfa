//! Binding: `for i { A(i) } = parallel for i { A(i) }`
//!
//! Tasks, groups or items execute the iterations at the same time, or the compiler unrolls the loop.

use crate::nest::divided::check;
use crate::nest::edit::{Why, at_loop};
use crate::nest::independent::are_concurrent;
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;

/// Binds the loop over `var` to tasks, groups, items, or copies.
///
/// # Errors
/// The loop is bound already, its bounds do not allow it, or iterations cannot be executed at the same time.
pub fn bind(nest: &Nest, var: Reg, to: Bind) -> Result<Nest, Why> {
    if to.divides() {
        are_concurrent(nest, var)?;
    }
    let bound = at_loop(nest, var, |_, f| match f.bind {
        Bind::Seq => Ok(vec![Node::For(For { bind: to, ..f })]),
        _ => Err(Why(format!("the loop over x{var} is bound already"))),
    })?;
    check(&bound).map_err(Why)?;
    Ok(bound)
}
