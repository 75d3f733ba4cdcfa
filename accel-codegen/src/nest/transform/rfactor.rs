//! Partial results in lanes: `for k < n { a . x(k) } = y[0..v] := neutral; for k0 = 0, v, .. < n { for l < v { y[l] . x(k0 + l) } }; a . y[0] . y[1] ..`
//!
//! The order of the elements changes, which is right for a commutative operator.

use super::accumulate::{redirect, target};
use super::split::{Tail, split};
use super::vectorise::fit_vectors;
use crate::nest::edit::{Why, at_loop};
use crate::nest::ir::*;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{Instr, Reg};

/// Combines the elements of the loop over `var` in `lanes` partial results, and then these. `lanes` divides the number of
/// iterations. Returns the nest, and the variable of the loop over vectors.
///
/// # Errors
/// Those of [`split`] and of [`accumulate`](super::accumulate::accumulate).
pub fn rfactor(nest: &Nest, var: Reg, lanes: i64) -> Result<(Nest, Reg), Why> {
    let split = split(nest, var, lanes, Tail::Exact)?;
    let nest = at_loop(&split.nest, split.outer, |nest, mut f| {
        let (place, monoid, guards) = target(nest, &f)?;
        let ty = nest.buffers[place.buffer].ty;
        let local = nest.local(ty, &[lanes]);
        let lane = |l: Reg| Place::new(local, vec![l.into()]);
        redirect(&mut f.body, &lane(split.inner));
        for n in &mut f.body {
            if let Node::For(inner) = n {
                fit_vectors(inner)?;
                inner.bind = Bind::Vector;
            }
        }
        let (neutral, l) = (nest.register(ty), nest.register(ScalarType::I64));
        let first = For {
            var: l,
            from: Affine::constant(0),
            to: Affine::constant(lanes),
            step: 1,
            whole: false,
            bind: Bind::Vector,
            body: vec![Node::store(lane(l), neutral)],
        };
        Ok(vec![
            Node::Alloc(local),
            Node::Let(Instr::Const(neutral, monoid.neutral(ty))),
            Node::For(first),
            Node::For(f),
            Node::AccLanes { monoid, all: vec![(guards, place, local)] },
        ])
    })?;
    Ok((nest, split.outer))
}
