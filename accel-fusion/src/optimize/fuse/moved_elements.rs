//! Moved elements: a sort moves the elements that are read through its positions.
//!
//! NOTE [Moved elements]: `sort` and `sort_by_key` are gathers through the positions of a sort. Such a gather reads
//! memory in a random order, which takes longer than the sort itself. But a sort of few columns can move them together
//! with the keys. So if the positions of a sort are only used to read arrays that have the extents of its keys, each at
//! the position in the same row, then the sort defines the sorted arrays instead of the positions.

use crate::kernel::dead_code::eliminate_dead_code;
use crate::kernel::{ArrayId, ArrayInfo, Block, IndexVec, Instr, Op, Reg, ScalarFn, SiteId, walk, walk_mut};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::rules::{Place, Rule};
use std::collections::{BTreeMap, BTreeSet};

/// `p = argsort k; .. x[p[i]]` is `y = argsort k moved x; .. y[i]`. The facts are about the arrays of the program.
pub struct MoveElements<'f>(pub &'f Facts);

impl Rule for MoveElements<'_> {
    fn block(&mut self, place: &mut Place, b: &mut Block, results: &mut [ArrayId]) {
        for k in 0..b.stmts.len() {
            if let Op::Argsort { to, keys, moved } = &b.stmts[k].op
                && let ([positions], [None]) = (&to[..], &moved[..])
            {
                let (positions, keys) = (*positions, *keys);
                self.sort(place, b, k, (positions, keys), results);
            }
        }
    }
}

impl MoveElements<'_> {
    /// Replaces the positions of the sort that is statement `k`, if possible.
    fn sort(
        &self,
        place: &mut Place,
        b: &mut Block,
        k: usize,
        (positions, keys): (ArrayId, ArrayId),
        results: &[ArrayId],
    ) {
        let arrays = place.arrays.len();
        let mut after = Block { stmts: b.stmts[k + 1..].to_vec() };
        let later = after.walk().flat_map(|s| s.op.defines()).chain([positions]).collect();
        let mut readers =
            Readers { facts: self.0, arrays: place.arrays, positions, keys, later, sorted: BTreeMap::new() };
        after.walk_mut(|s| s.op.scalar_fns_mut().into_iter().for_each(|code| readers.code(code)));
        let sorted = readers.sorted;
        let mut used: BTreeSet<ArrayId> = results.iter().copied().collect();
        after.stmts.iter().for_each(|s| s.op.used_arrays(&mut used));
        if sorted.is_empty() || used.contains(&positions) {
            place.arrays.truncate(arrays);
            return;
        }
        let (moved, to) = sorted.into_iter().map(|(from, to)| (Some(from), to)).unzip();
        b.stmts[k].op = Op::Argsort { to, keys, moved };
        b.stmts.truncate(k + 1);
        b.stmts.append(&mut after.stmts);
    }
}

/// The scalar functions after a sort, which may read arrays through its positions.
struct Readers<'r> {
    facts: &'r Facts,
    arrays: &'r mut IndexVec<ArrayId, ArrayInfo>,
    positions: ArrayId,
    keys: ArrayId,
    /// The arrays that the sort cannot move: its own, and those that are defined after it.
    later: BTreeSet<ArrayId>,
    /// The arrays that can move, and their sorted copies.
    sorted: BTreeMap<ArrayId, ArrayId>,
}

/// A read of a position: its index and site, and whether it was proved to be within bounds.
type Position = (Vec<Reg>, SiteId, bool);

impl Readers<'_> {
    /// Replaces the reads of a scalar function.
    fn code(&mut self, code: &mut ScalarFn) {
        let mut read: BTreeMap<Reg, Position> = BTreeMap::new();
        for i in walk(&code.instrs) {
            if let Instr::Read { to, array, index, site, inside } = i
                && *array == self.positions
            {
                read.extend(to.iter().map(|r| (*r, (index.clone(), *site, *inside))));
            }
        }
        let mut changed = false;
        walk_mut(&mut code.instrs, |i| match i {
            Instr::Extent(_, a, _) if *a == self.positions => *a = self.keys,
            Instr::Read { array, index, site, inside, .. } => {
                if let Some(sorted) = self.sorted(*array, index, &read)
                    && let Some(position) = index.last().and_then(|r| read.get(r))
                {
                    *array = sorted;
                    (*index, *site, *inside) = position.clone();
                    changed = true;
                }
            }
            _ => {}
        });
        if changed {
            eliminate_dead_code(code);
        }
    }

    /// The sorted copy of an array, if this is the index of the element at a position in the same row.
    fn sorted(&mut self, array: ArrayId, index: &[Reg], read: &BTreeMap<Reg, Position>) -> Option<ArrayId> {
        let (position, outer) = index.split_last()?;
        let (place, ..) = read.get(position)?;
        let can_move = place.split_last()?.1 == outer && !self.later.contains(&array) && self.has_extents(array);
        if !can_move {
            return None;
        }
        Some(*self.sorted.entry(array).or_insert_with(|| {
            let info = self.arrays[array].clone();
            self.arrays.push(info)
        }))
    }

    /// Whether an array has the extents of the keys.
    fn has_extents(&self, array: ArrayId) -> bool {
        let dims = |a: ArrayId| -> Option<Vec<Poly>> { self.facts.known_dims(a) };
        array == self.keys || dims(array).is_some_and(|own| Some(own) == dims(self.keys))
    }
}
