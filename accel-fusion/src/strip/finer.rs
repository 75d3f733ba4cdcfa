//! Finer strips: strips of several dimensions as one.
//!
//! NOTE [Finer strips]: strips go along the outermost dimension. If it is short and its rows are large, as in the softmax of the rows of
//! an array of four dimensions, a strip does not fit into the caches. But if statements use the indices of the leading dimensions only
//! to read arrays at the same place, these dimensions follow each other in memory like one. So one of the extent `n * m` takes the place
//! of two, in the statements and in the arrays that they read, by reshapes, which cost nothing. The strips have `n * m` positions
//! then, and rows of a size that fits.
//!
//! Only the run knows whether a strip is too large. So this happens in place of dissolving the strip, and also then only to
//! the statements for which it is possible; those that depend on other statements of the strip are not among them.
//!
//! An array can be larger than the index space of a statement that reads it, and then the rows that it reads do not follow each
//! other. If the extents are not visibly the same, the program compares them when it runs, and otherwise executes the statements one by one.

use super::value::value;
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{
    ArrayId, ArrayInfo, Block, IndexVec, Instr, Op, Reg, ScalarFn, Stmt, arrays_read, follows, walk, walk_mut,
};
use crate::optimize::Numbers;
use accel_core::repr::ScalarType;
use accel_core::repr::op::Cmp;
use std::collections::{BTreeMap, BTreeSet};

type Arrays = IndexVec<ArrayId, ArrayInfo>;

/// Forms strips in a block with these results.
type FormStrips<'a> = &'a dyn Fn(Block, &[ArrayId]) -> Block;

/// The statements of a strip with the results `to`, as many as possible of them in finer strips; `None` if there are none.
pub fn finer(arrays: &mut Arrays, to: &[ArrayId], body: &Block, form: FormStrips) -> Option<Vec<Stmt>> {
    let merged: Vec<usize> = body.stmts.iter().map(|s| merged_dimensions(&s.op)).collect();
    let most = merged.iter().copied().max()?;
    (2..=most).rev().find_map(|dims| {
        let inside = members(&body.stmts, &merged, dims)?;
        let (members, others): (Vec<_>, Vec<_>) = body.stmts.iter().zip(inside).partition(|(_, inside)| *inside);
        let statements = |found: Vec<(&Stmt, bool)>| found.into_iter().map(|(s, _)| s.clone()).collect::<Vec<_>>();
        Merge::new(arrays, dims).strips(to, statements(members), statements(others), form)
    })
}

/// The function from an index to the elements of a loop, or to those that a reduction combines.
fn elements(op: &Op) -> Option<&ScalarFn> {
    match op {
        Op::Loop { body, .. } => Some(body),
        Op::Reduce { rows, .. } => Some(&rows.element),
        _ => None,
    }
}

fn elements_mut(op: &mut Op) -> Option<&mut ScalarFn> {
    match op {
        Op::Loop { body, .. } => Some(body),
        Op::Reduce { rows, .. } => Some(&mut rows.element),
        _ => None,
    }
}

/// The arrays that a loop or a reduction defines.
fn defined_mut(op: &mut Op) -> Vec<&mut ArrayId> {
    match op {
        Op::Loop { to, .. } => to.iter_mut().collect(),
        Op::Reduce { to, .. } => vec![to],
        _ => vec![],
    }
}

/// How many leading dimensions of a statement can be one.
fn merged_dimensions(op: &Op) -> usize {
    let Some(code) = elements(op) else { return 0 };
    let follows = |d: &usize| {
        let found = follows(code, Reg::new(d - 1), Reg::new(*d));
        found.is_some_and(|found| found.iter().all(|(_, dim)| dim == d))
    };
    let rank = op.scalar_fns()[0].1.results.len();
    rank.min(1) + (1..rank).take_while(follows).count()
}

/// The extents of the leading dimensions, as values, if all of them are extents of arrays.
fn leading(extents: &ScalarFn, dims: usize) -> Option<Vec<String>> {
    let is_extent = |r: &Reg| extents.instrs.iter().any(|i| matches!(i, Instr::Extent(to, ..) if to == r));
    let found = extents.results.iter().take(dims).enumerate().map(|(k, r)| value(extents, k).filter(|_| is_extent(r)));
    found.collect()
}

/// The statements that are executed with their leading dimensions as one; `None` if finer strips of them save nothing.
fn members(stmts: &[Stmt], merged: &[usize], dims: usize) -> Option<Vec<bool>> {
    let defined: BTreeSet<ArrayId> = stmts.iter().flat_map(|s| s.op.defines()).collect();
    let (mut extents, mut results, mut reads_another, mut has_rows) = (None, BTreeSet::new(), false, false);
    let mut inside = vec![];
    for (s, merged) in stmts.iter().zip(merged) {
        let own = leading(s.op.scalar_fns()[0].1, dims).filter(|_| *merged >= dims);
        let mut read = BTreeSet::new();
        elements(&s.op).into_iter().for_each(|code| arrays_read(&code.instrs, &mut read));
        // Of the arrays of the strip, a member uses only elements of other members.
        let is_possible = s.op.scalar_fns().iter().all(|(name, code)| {
            walk(&code.instrs).all(|i| match i {
                Instr::Read { array, .. } if ["body", "element"].contains(name) => {
                    !defined.contains(array) || results.contains(array)
                }
                Instr::Read { array, .. } | Instr::Extent(_, array, _) => !defined.contains(array),
                _ => true,
            })
        });
        let is_member = own.is_some() && (extents.is_none() || extents == own) && is_possible;
        if is_member {
            extents = own;
            reads_another |= !read.is_disjoint(&results);
            has_rows |= elements(&s.op).is_some_and(|code| code.params > dims);
            results.extend(s.op.defines());
        }
        inside.push(is_member);
    }
    (reads_another && has_rows).then_some(inside)
}

/// Statements whose leading dimensions become one.
struct Merge<'a> {
    arrays: &'a mut Arrays,
    dims: usize,
    /// The statements, after the reshapes of what they read.
    stmts: Vec<Stmt>,
    /// The arrays with other extents.
    merged: BTreeMap<ArrayId, ArrayId>,
    /// The extents of arrays that are to be the same.
    same: Vec<[(ArrayId, usize); 2]>,
}

impl<'a> Merge<'a> {
    fn new(arrays: &'a mut Arrays, dims: usize) -> Merge<'a> {
        Merge { arrays, dims, stmts: vec![], merged: BTreeMap::new(), same: vec![] }
    }

    fn add(&mut self, s: &Stmt) {
        let mut read = BTreeSet::new();
        for i in elements(&s.op).into_iter().flat_map(|code| walk(&code.instrs)) {
            match i {
                Instr::Read { array, index, .. } if index.first().is_some_and(|r| *r == 0) => _ = read.insert(*array),
                _ => {}
            }
        }
        read.retain(|a| !self.merged.contains_key(a));
        read.into_iter().for_each(|a| self.view(a, s));
        let mut s = s.clone();
        for a in defined_mut(&mut s.op) {
            let new = self.merged_copy_of(*a);
            self.merged.insert(*a, new);
            *a = new;
        }
        let code = elements_mut(&mut s.op).expect("elements");
        walk_mut(&mut code.instrs, |i| match i {
            Instr::Read { array, index, .. } if index.first().is_some_and(|r| *r == 0) => {
                *array = self.merged[array];
                index.drain(1..self.dims);
            }
            _ => {}
        });
        // Nothing else uses the indices of the dimensions that are gone.
        let gone = self.dims - 1;
        let mut b = Builder::new(&index_types(code.params - gone));
        let mut args = b.params();
        args.splice(1..1, std::iter::repeat_n(Reg::NONE, gone));
        let results = b.inline(code, &args);
        *code = b.finish(results);
        let extents = s.op.scalar_fns_mut().swap_remove(0);
        *extents = as_one(std::mem::take(extents), self.dims);
        self.stmts.push(s);
    }

    fn copy_of(&mut self, a: ArrayId) -> ArrayId {
        let info = self.arrays[a].clone();
        self.arrays.push(info)
    }

    fn merged_copy_of(&mut self, a: ArrayId) -> ArrayId {
        let info = self.arrays[a].clone();
        self.arrays.push(ArrayInfo { rank: info.rank + 1 - self.dims, ..info })
    }

    /// Reshapes an array that the statement reads.
    fn view(&mut self, a: ArrayId, s: &Stmt) {
        let new = self.merged_copy_of(a);
        self.merged.insert(a, new);
        let mut b = Builder::new(&[]);
        let all = (0..self.arrays[a].rank).map(|k| b.extent(a, k)).collect();
        let op = Op::Reshape { to: new, from: a, extents: as_one(b.finish(all), self.dims) };
        self.stmts.push(Stmt { op, site: s.site });
        let extents = s.op.scalar_fns()[0].1;
        for (k, r) in extents.results.iter().enumerate().take(self.dims).skip(1) {
            let found = extents.instrs.iter().find_map(|i| match i {
                Instr::Extent(to, array, dim) if to == r => Some((*array, *dim)),
                _ => None,
            });
            self.same.extend(found.filter(|found| *found != (a, k)).map(|found| [found, (a, k)]));
        }
    }

    /// The statements `plain` in finer strips, and then `others`, with the results `to`.
    fn strips(mut self, to: &[ArrayId], plain: Vec<Stmt>, others: Vec<Stmt>, form: FormStrips) -> Option<Vec<Stmt>> {
        let mut used: BTreeSet<ArrayId> = to.iter().copied().collect();
        others.iter().for_each(|s| s.op.used_arrays(&mut used));
        let site = plain[0].site;
        plain.iter().for_each(|s| self.add(s));
        let mut results = vec![];
        // The results, with the extents that they had.
        for s in &plain {
            let extents = s.op.scalar_fns()[0].1;
            for a in s.op.defines().into_iter().filter(|a| used.contains(a)) {
                let back = if self.same.is_empty() { a } else { self.copy_of(a) };
                let op = Op::Reshape { to: back, from: self.merged[&a], extents: extents.clone() };
                self.stmts.push(Stmt { op, site: s.site });
                results.push((a, back));
            }
        }
        self.same.sort_unstable();
        self.same.dedup();
        let backs: Vec<ArrayId> = results.iter().map(|(_, back)| *back).collect();
        let mut strips = form(Block { stmts: std::mem::take(&mut self.stmts) }, &backs);
        if !strips.stmts.iter().any(|s| matches!(s.op, Op::Strip { .. })) {
            return None;
        }
        let mut found = match self.same.is_empty() {
            true => std::mem::take(&mut strips.stmts),
            false => {
                let otherwise = self.plain_copies(plain, &results);
                let to = results.iter().map(|(a, _)| *a).collect();
                let op = Op::If { to, cond: all_same(&self.same), then: (strips, backs), otherwise };
                vec![Stmt { op, site }]
            }
        };
        found.extend(others);
        Some(found)
    }

    /// The statements as they were, but with other names for what they define; and their results.
    fn plain_copies(&mut self, stmts: Vec<Stmt>, results: &[(ArrayId, ArrayId)]) -> (Block, Vec<ArrayId>) {
        let defined: Vec<ArrayId> = stmts.iter().flat_map(|s| s.op.defines()).collect();
        let names: BTreeMap<ArrayId, ArrayId> = defined.into_iter().map(|a| (a, self.copy_of(a))).collect();
        let mut block = Block { stmts };
        let copies = results.iter().map(|(a, _)| names[a]).collect();
        Numbers::from(names).block(&mut block);
        (block, copies)
    }
}

/// Extents whose leading dimensions are one.
fn as_one(extents: ScalarFn, dims: usize) -> ScalarFn {
    let (mut b, mut results) = Builder::after(extents);
    let all = b.product(ScalarType::I64, results[..dims].to_vec()).expect("at least two dimensions");
    results.splice(..dims, [all]);
    b.finish(results)
}

/// Whether all these extents are the same.
fn all_same(same: &[[(ArrayId, usize); 2]]) -> ScalarFn {
    let mut b = Builder::new(&[]);
    let mut all = vec![];
    for pair in same {
        let [x, y] = pair.map(|(a, k)| b.extent(a, k));
        all.push(b.compare(Cmp::Eq, x, y));
    }
    let all = b.all(all);
    b.finish(vec![all])
}
