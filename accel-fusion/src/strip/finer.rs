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
    ArrayId, ArrayInfo, Block, IndexVec, Instr, Op, Reg, ScalarFn, Stmt, arrays_mentioned, walk, walk_mut,
};
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Cmp, Logic, Op2};
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
        Merge::new(arrays, dims, &statements(members)).strips(to, statements(others), form)
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
    let mut dims = op.scalar_fns()[0].1.results.len();
    for i in walk(&code.instrs) {
        let (mut used, mut prefix) = (vec![], 0);
        match i {
            Instr::Read { index, inside: true, .. } => {
                prefix = index.iter().enumerate().take_while(|(k, r)| **r == *k).count();
                used.extend(&index[prefix..]);
            }
            i => i.direct_uses(&mut used),
        }
        if prefix > 0 {
            dims = dims.min(prefix);
        }
        used.iter().for_each(|r| dims = dims.min(r.index()));
    }
    code.results.iter().map(|r| r.index()).fold(dims, usize::min)
}

/// The extents of the leading dimensions, as values, if all of them are extents of arrays.
fn leading(extents: &ScalarFn, dims: usize) -> Option<Vec<String>> {
    let is_extent = |r: &Reg| extents.instrs.iter().any(|i| matches!(i, Instr::Extent(to, ..) if to == r));
    let all_are = extents.results.get(..dims)?.iter().all(is_extent);
    (0..dims)
        .filter(|_| all_are)
        .map(|k| value(extents, k))
        .collect::<Option<Vec<_>>>()
        .filter(|found| !found.is_empty())
}

/// The statements that are executed with their leading dimensions as one; `None` if finer strips of them save nothing.
fn members(stmts: &[Stmt], merged: &[usize], dims: usize) -> Option<Vec<bool>> {
    let defined: BTreeSet<ArrayId> = stmts.iter().flat_map(|s| s.op.defines()).collect();
    let (mut extents, mut results, mut reads_another, mut has_rows) = (None, BTreeSet::new(), false, false);
    let mut inside = vec![];
    for (s, merged) in stmts.iter().zip(merged) {
        let own = leading(s.op.scalar_fns()[0].1, dims).filter(|_| *merged >= dims);
        let (mut mentioned, element) = (BTreeSet::new(), elements(&s.op));
        for (_, code) in s.op.scalar_fns() {
            let is_element = element.is_some_and(|e| std::ptr::eq(e, code));
            let not_read = |i: &&Instr| !is_element || !matches!(i, Instr::Read { .. });
            walk(&code.instrs).filter(not_read).for_each(|i| arrays_mentioned(std::slice::from_ref(i), &mut mentioned));
        }
        let mut read = BTreeSet::new();
        element.into_iter().for_each(|e| arrays_mentioned(&e.instrs, &mut read));
        let is_member = own.is_some()
            && (extents.is_none() || extents == own)
            && mentioned.is_disjoint(&defined)
            && read.intersection(&defined).all(|a| results.contains(a));
        if is_member {
            extents = own;
            reads_another |= !read.is_disjoint(&results);
            has_rows |= element.is_some_and(|e| e.params > dims);
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
    /// The statements as they were.
    plain: Vec<Stmt>,
    /// The statements, after the reshapes of what they read.
    stmts: Vec<Stmt>,
    /// The arrays with other extents.
    merged: BTreeMap<ArrayId, ArrayId>,
    /// The extents of arrays that are to be the same.
    same: Vec<[(ArrayId, usize); 2]>,
}

impl<'a> Merge<'a> {
    fn new(arrays: &'a mut Arrays, dims: usize, plain: &[Stmt]) -> Merge<'a> {
        let mut merge =
            Merge { arrays, dims, plain: plain.to_vec(), stmts: vec![], merged: BTreeMap::new(), same: vec![] };
        plain.iter().for_each(|s| merge.add(s));
        merge
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

    /// The statements in finer strips, and then `others`, with the results `to`.
    fn strips(mut self, to: &[ArrayId], others: Vec<Stmt>, form: FormStrips) -> Option<Vec<Stmt>> {
        let mut used: BTreeSet<ArrayId> = to.iter().copied().collect();
        others.iter().for_each(|s| s.op.used_arrays(&mut used));
        let site = self.plain[0].site;
        let mut results = vec![];
        // The results, with the extents that they had.
        for s in self.plain.clone() {
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
                let otherwise = self.plain_copies(&results);
                let to = results.iter().map(|(a, _)| *a).collect();
                let op = Op::If { to, cond: all_same(&self.same), then: (strips, backs), otherwise };
                vec![Stmt { op, site }]
            }
        };
        found.extend(others);
        Some(found)
    }

    /// The statements as they were, but with other names for what they define; and their results.
    fn plain_copies(&mut self, results: &[(ArrayId, ArrayId)]) -> (Block, Vec<ArrayId>) {
        let defined: Vec<ArrayId> = self.plain.iter().flat_map(|s| s.op.defines()).collect();
        let names: BTreeMap<ArrayId, ArrayId> = defined.into_iter().map(|a| (a, self.copy_of(a))).collect();
        let mut stmts = self.plain.clone();
        for s in &mut stmts {
            defined_mut(&mut s.op).into_iter().for_each(|a| *a = names[a]);
            for code in s.op.scalar_fns_mut() {
                walk_mut(&mut code.instrs, |i| match i {
                    Instr::Read { array, .. } | Instr::Extent(_, array, _) => {
                        *array = *names.get(array).unwrap_or(array)
                    }
                    _ => {}
                });
            }
        }
        (Block { stmts }, results.iter().map(|(a, _)| names[a]).collect())
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
    let compare = |b: &mut Builder, op: Op2, x: Reg, y: Reg| {
        let to = b.reg(ScalarType::Bool);
        b.emit(Instr::Op2(to, op, x, y));
        to
    };
    let mut all = vec![];
    for pair in same {
        let [x, y] = pair.map(|(a, k)| b.extent(a, k));
        all.push(compare(&mut b, Op2::Cmp(Cmp::Eq), x, y));
    }
    let all = all.into_iter().reduce(|x, y| compare(&mut b, Op2::Logic(Logic::And), x, y));
    b.finish(all.into_iter().collect())
}
