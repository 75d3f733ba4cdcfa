//! Staging with a transposed layout: a part of a buffer is copied to a local one, so that the numbers of neighbouring
//! iterations become adjacent.
//!
//! `for j0 { .. x[.., j0 + j1, .., l] .. } = for j0 { y[l, j1] := x[.., j0 + j1, .., l]; .. y[l, j1] .. }`

use crate::nest::edit::{Why, at_loop, walk};
use crate::nest::ir::*;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::Reg;

/// Copies what the loop over `var` reads from `buffer` in steps of `n`: the numbers at `var`, `var + 1`, … (one for each
/// of its steps) in dimension `dim`, and all of the last dimension, whose extent is a constant.
///
/// # Errors
/// The buffer is written, or read in another way.
pub fn stage(nest: &Nest, var: Reg, buffer: BufferId, dim: usize, n: i64) -> Result<Nest, Why> {
    at_loop(nest, var, |nest, mut f| {
        let info = nest.buffers[buffer].clone();
        let Some(length) = info.extents.last().and_then(Affine::as_constant) else {
            return Err(Why(format!("the last extent of b{buffer} is not a constant")));
        };
        if f.step % n != 0 || length % n != 0 || !f.whole || dim + 1 >= info.extents.len() {
            return Err(Why(format!("{n} does not divide the steps over x{var} and the last extent of b{buffer}")));
        }
        let local = nest.local(info.ty, &[length, f.step]);
        let mut place = None;
        let mut fits = true;
        replace(&mut f.body, buffer, &mut |p| {
            let mut outer = p.index.clone();
            let last = outer.pop()?;
            let offset = outer[dim].plus(&var.into(), -1)?;
            outer[dim] = var.into();
            fits &= place.get_or_insert_with(|| outer.clone()) == &outer;
            fits &= p.is_proved();
            Some(Place::new(local, vec![last, offset]))
        })?;
        let mut set = vec![];
        walk(&f.body, &mut |n| set.extend(n.sets()));
        let Some(outer) = place.filter(|_| fits) else {
            return Err(Why(format!("b{buffer} is not read in the loop over x{var}, or at several places")));
        };
        if outer.iter().flat_map(|a| &a.terms).any(|(r, _)| set.contains(r)) {
            return Err(Why(format!("b{buffer} is read at a place that depends on an inner loop")));
        }
        let l = nest.register(ScalarType::I64);
        let copies = (0..f.step / n).map(|b| {
            let mut from = outer.clone();
            from[dim] = from[dim].plus(&Affine::constant(b * n), 1).ok_or_else(Why::too_large)?;
            from.push(l.into());
            let to = Place::new(local, vec![l.into(), Affine::constant(b * n)]);
            Ok(Node::Transpose { to, from: Place::new(buffer, from), dim, n })
        });
        let body = copies.collect::<Result<Vec<_>, Why>>()?;
        let (from, to) = (Affine::constant(0), Affine::constant(length));
        let copies = Node::For(For { var: l, from, to, step: n, whole: false, bind: Bind::Seq, body });
        f.body.splice(0..0, [Node::Alloc(local), copies]);
        Ok(vec![Node::For(f)])
    })
}

/// Replaces the places in a buffer that is only read.
fn replace(nodes: &mut [Node], buffer: BufferId, by: &mut dyn FnMut(&Place) -> Option<Place>) -> Result<(), Why> {
    for n in nodes {
        match n {
            Node::For(For { body, .. }) | Node::If { body, .. } => replace(body, buffer, by)?,
            Node::Load { from, .. } if from.buffer == buffer => {
                *from = by(from).ok_or_else(Why::too_large)?;
            }
            Node::Store { to, .. } | Node::Acc { to, .. } if to.buffer == buffer => {
                return Err(Why(format!("b{buffer} is written")));
            }
            _ => {}
        }
    }
    Ok(())
}
