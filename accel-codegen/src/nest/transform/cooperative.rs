//! Cooperative staging: the items of a group copy together what each of them would read from slow memory.
//!
//! `for k { A(x[o + i, k + j]) } = for k { barrier; t[c] := x[o + c0, k + c1], for the items' own c; barrier; A(t[i, j]) }`
//!
//! Here `i` and `j` stand for the items and for inner loops, so that the part `t` has constant extents. An index that is kept
//! below a limit is kept below it while the part is copied.

use super::part::{Dimension, Registers, count};
use crate::nest::edit::{Why, at_block, loops_around, written};
use crate::nest::independent::are_same_memory;
use crate::nest::ir::*;
use crate::nest::verify::verify;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{Instr, Reg};
use std::collections::BTreeMap;

/// Copies what each iteration of the loop over `var` reads from a buffer to memory of the group.
///
/// # Errors
/// The loop is not executed by all items of a group together, the buffer is written, or what is read is no part of
/// constant extents.
pub fn cooperative(nest: &Nest, var: Reg, buffer: BufferId) -> Result<Nest, Why> {
    if written(&nest.body).iter().any(|b| are_same_memory(nest, *b, buffer)) {
        return Err(Why(format!("b{buffer} is written")));
    }
    let around = loops_around(&nest.body, var).ok_or_else(|| Why(format!("there is no loop over x{var}")))?;
    let Some(items) = around.iter().position(|f| matches!(f.bind, Bind::Item(_))) else {
        return Err(Why(format!("the loop over x{var} is not in a loop over items")));
    };
    let outermost = around[items];
    let part = Tile::new(nest, outermost, &around, buffer)?;
    let tile = nest.buffers.next_idx();
    let staged = at_block(nest, var, |nest, block, at| {
        nest.buffers.push(Buffer {
            ty: nest.buffers[buffer].ty,
            space: Space::Group,
            extents: part.extents().map(Affine::constant).collect(),
        });
        let Node::For(f) = &mut block[at] else { return Ok(()) };
        part.replace(&mut f.body, buffer, tile)?;
        let copy = part.copy(nest, &around[items..], buffer, tile)?;
        // An earlier part is copied between the same barriers.
        let waits = |n: &Node| matches!(n, Node::Barrier);
        match f.body.first().is_some_and(waits).then(|| f.body[1..].iter().position(waits)).flatten() {
            Some(second) => f.body.splice(second + 1..second + 1, copy),
            None => f.body.splice(0..0, [vec![Node::Barrier], copy, vec![Node::Barrier]].concat()),
        };
        Ok(())
    })?;
    let staged = at_block(&staged, outermost.var, |_, block, at| {
        block.insert(at, Node::Alloc(tile));
        Ok(())
    })?;
    verify(&staged).map_err(Why)?;
    Ok(staged)
}

/// The part of a buffer that the items of a group read.
struct Tile {
    dimensions: Vec<Dimension>,
    /// What is added to the first index of each dimension, for each place.
    offsets: BTreeMap<String, Vec<Affine>>,
}

impl Tile {
    /// The part that is read in the innermost of the loops `around`, of which `outermost` is the first one over items.
    fn new(nest: &Nest, outermost: &For, around: &[&For], buffer: BufferId) -> Result<Tile, Why> {
        let Some(innermost) = around.last() else { return Err(Why("no loop".into())) };
        // All items together are in one iteration of a loop around the part.
        let fixed: Vec<Reg> = around.iter().filter(|f| f.bind == Bind::Seq).map(|f| f.var).collect();
        let registers = Registers::of_loop(outermost, &fixed);
        let no_part = || Why(format!("b{buffer} is not read in one part of constant extents"));
        let mut loads = vec![];
        let fits = nest.buffers[buffer].space != Space::Local && always_read(&innermost.body, buffer, &mut loads);
        let all: Option<Vec<Vec<_>>> =
            loads.iter().map(|p| p.index.iter().map(|i| registers.dimension(i)).collect()).collect();
        let Some(all) = all.filter(|all| fits && !all.is_empty()) else { return Err(no_part()) };
        let mut dimensions = vec![];
        for d in 0..all[0].len() {
            let column: Vec<&(Dimension, Affine)> = all.iter().map(|p| &p[d]).collect();
            dimensions.push(Dimension::union(column.iter().map(|c| &c.0)).ok_or_else(no_part)?);
        }
        let mut offsets = BTreeMap::new();
        for (p, own) in loads.iter().zip(all) {
            let offset = |((own, offset), whole): ((Dimension, Affine), &Dimension)| {
                offset.plus(&own.base, 1)?.plus(&whole.base, -1)
            };
            let all: Option<Vec<Affine>> = own.into_iter().zip(&dimensions).map(offset).collect();
            offsets.insert(p.to_string(), all.ok_or_else(Why::too_large)?);
        }
        Ok(Tile { dimensions, offsets })
    }

    /// The extents of the copy: those that are more than 1.
    fn extents(&self) -> impl Iterator<Item = i64> {
        self.dimensions.iter().map(|d| d.extent).filter(|n| *n > 1)
    }

    /// Reads from the copy.
    fn replace(&self, nodes: &mut [Node], buffer: BufferId, tile: BufferId) -> Result<(), Why> {
        for n in nodes {
            match n {
                Node::For(For { body, .. }) | Node::If { body, .. } => self.replace(body, buffer, tile)?,
                Node::Load { from, .. } if from.buffer == buffer => {
                    let own = self.offsets.get(&from.to_string()).ok_or_else(Why::too_large)?;
                    let of_tile = own.iter().zip(&self.dimensions).filter(|(_, d)| d.extent > 1);
                    *from = Place::new(tile, of_tile.map(|(o, _)| o.clone()).collect());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The nodes with which an item copies its numbers: every one of those after its own number.
    fn copy(&self, nest: &mut Nest, around: &[&For], buffer: BufferId, tile: BufferId) -> Result<Vec<Node>, Why> {
        let (mut number, mut items, mut nodes) = (Affine::constant(0), 1, vec![]);
        for f in around.iter().filter(|f| matches!(f.bind, Bind::Item(_))) {
            let count = count(f).ok_or_else(Why::too_large)?;
            let mut own = Affine::from(f.var);
            if f.step != 1 {
                let [step, quotient] = [0; 2].map(|_| nest.register(ScalarType::I64));
                nodes.push(Node::Let(Instr::Const(step, Scalar::I64(f.step))));
                nodes.push(Node::Let(Instr::Op2(quotient, Op2::Num(Num2::Div), f.var, step)));
                own = quotient.into();
            }
            number = own.plus(&number, count).ok_or_else(Why::too_large)?;
            items *= count;
        }
        let at = nest.register(ScalarType::I64);
        let (mut body, mut index, mut place) = (vec![], vec![], vec![]);
        let mut rest = at;
        let mut all = 1;
        for d in self.dimensions.iter().rev() {
            let mut value = d.base.clone();
            if d.extent > 1 {
                let [extent, offset, next] = [0; 3].map(|_| nest.register(ScalarType::I64));
                body.push(Node::Let(Instr::Const(extent, Scalar::I64(d.extent))));
                body.push(Node::Let(Instr::Op2(offset, Op2::Num(Num2::Rem), rest, extent)));
                body.push(Node::Let(Instr::Op2(next, Op2::Num(Num2::Div), rest, extent)));
                value = value.plus(&offset.into(), 1).ok_or_else(Why::too_large)?;
                place.insert(0, Affine::from(offset));
                rest = next;
                all *= d.extent;
            }
            let to = nest.register(ScalarType::I64);
            body.push(Node::Index { to, value, limit: d.limit.clone() });
            index.insert(0, Affine::from(to));
        }
        let value = nest.register(nest.buffers[buffer].ty);
        body.push(Node::Load { to: value, from: Place::new(buffer, index) });
        body.push(Node::store(Place::new(tile, place), value));
        let to = Affine::constant(all);
        nodes.push(Node::For(For { var: at, from: number, to, step: items, whole: false, bind: Bind::Seq, body }));
        Ok(nodes)
    }
}

/// Finds the places that nodes read in a buffer. Whether they are read in any case, so that they exist.
fn always_read<'n>(nodes: &'n [Node], buffer: BufferId, found: &mut Vec<&'n Place>) -> bool {
    nodes.iter().all(|n| {
        let before = found.len();
        let always = match n {
            Node::Load { from, .. } => {
                found.extend((from.buffer == buffer).then_some(from));
                from.is_proved()
            }
            Node::Transpose { from, .. } if from.buffer == buffer => return false,
            Node::For(f) => always_read(&f.body, buffer, found) && count(f).is_some_and(|n| n > 0),
            n => always_read(n.inner(), buffer, found) && !matches!(n, Node::If { .. }),
        };
        always || found.len() == before
    })
}
