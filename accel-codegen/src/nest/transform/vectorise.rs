//! Vectors: the iterations of a loop become the elements of vectors.

use crate::nest::edit::{Why, at_loop, walk};
use crate::nest::independent::are_independent;
use crate::nest::ir::*;
use accel_fusion::kernel::{Instr, Reg};

/// Binds the loop over `var` to vectors.
///
/// # Errors
/// The loop is not from 0 to a constant by 1, it contains what vectors do not have, or iterations depend on each other.
pub fn vectorise(nest: &Nest, var: Reg) -> Result<Nest, Why> {
    at_loop(nest, var, |nest, f| {
        if f.from.as_constant() != Some(0) || f.to.as_constant().is_none_or(|n| n < 1) || f.step != 1 {
            return Err(Why(format!("the loop over x{var} is not from 0 to a constant by 1")));
        }
        are_independent(nest, &f)?;
        fit_vectors(&f)?;
        Ok(vec![Node::For(For { bind: Bind::Vector, ..f })])
    })
}

/// Checks that the iterations of a loop can be elements of vectors.
///
/// # Errors
/// It is bound already, or contains other vectors, divided loops, branches of scalar code, or indices that may be out of bounds.
pub fn fit_vectors(f: &For) -> Result<(), Why> {
    let mut others = f.bind != Bind::Seq;
    walk(&f.body, &mut |n| {
        others |= match n {
            Node::AccLanes { .. } | Node::Let(Instr::If { .. } | Instr::While { .. } | Instr::Get { .. }) => true,
            Node::For(f) => f.bind == Bind::Vector || f.bind.divides(),
            Node::Load { from: p, .. } | Node::Store { to: p, .. } | Node::Acc { to: p, .. } => !p.is_proved(),
            Node::Fail(_) => true,
            _ => false,
        };
    });
    match others {
        true => Err(Why(format!("the loop over x{} is bound, or contains what vectors do not have", f.var))),
        false => Ok(()),
    }
}
