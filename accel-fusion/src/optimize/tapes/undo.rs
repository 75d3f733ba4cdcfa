//! The updates of a loop, undone step by step.
//!
//! NOTE [Undone updates]: if a step of a loop only updates a component of the state, the states before all steps need no tape of
//! whole arrays. The first loop lists, for each update, the places and the elements that it is about to overwrite. The second
//! loop begins with the last state and writes the old elements back, the last update first; what it gets is the state before
//! the step, bit for bit. Both write in place, so a step takes time and memory in proportion to the update, not to the array.
//!
//! With a budget, they are listed for a part of the steps at a time: NOTE [Blocks of updates]. The lists must be smaller than the
//! states: an update has fewer dimensions than the array, or a constant number of elements. As rows of a list, the updates of all
//! steps have the same extents. If their own differ, as those of the columns of a triangle, a row has the extents of the array in
//! the dimensions along which the targets lie, and says of the rest that nothing was overwritten. So it does in the other branch of
//! a conditional if there is an update in one of them.

use super::step::Body;
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Block, Instr, Op, Program, Reg, ScalarFn, SiteId, Stmt, arrays_mentioned};
use crate::optimize::hoisted_checks::{index_factors, keeps_all};
use accel_core::ast::deep;
use accel_core::repr::op::Cmp;
use accel_core::repr::{Scalar, ScalarType};
use std::collections::BTreeSet;
use std::ops::Range;

/// An update that a loop lists.
pub struct Update {
    /// The array that it defines.
    to: ArrayId,
    /// The array of what it overwrites, and the list of such arrays.
    row: ArrayId,
    pub list: ArrayId,
    /// The extents of a row.
    pub extents: ScalarFn,
    /// From an index of the source: whether the element has a target, the target, and the old element there.
    overwritten: ScalarFn,
    site: SiteId,
}

/// A component of the state of a loop whose updates are undone in another loop.
pub struct Undone {
    /// The component.
    pub state: ArrayId,
    /// In the other loop: the state before the step that belongs to the present one.
    pub before: ArrayId,
    /// The state after it.
    after: ArrayId,
    pub updates: Vec<Update>,
    /// The statements that compute one from the other.
    undo: Vec<Stmt>,
}

impl Body<'_> {
    /// The arrays that differ between steps.
    fn inside(&self) -> BTreeSet<ArrayId> {
        let mut inside: BTreeSet<ArrayId> = self.state.iter().copied().collect();
        let nested = self.stmts.iter().flat_map(|s| s.op.blocks()).flat_map(Block::walk);
        inside.extend(self.stmts.iter().chain(nested).flat_map(|s| s.op.defines()));
        inside
    }

    /// The updates that lead from a component of the state to its next value, in order, if all can be undone.
    pub fn updates(&self, k: usize, program: &Program) -> Option<Vec<ArrayId>> {
        let chain = Chain { program, inside: &self.inside(), in_branch: false };
        let mut found = vec![];
        let first = chain.updates(self.stmts, self.next[k], &mut found)?;
        found.reverse();
        (first == self.state[k] && !found.is_empty()).then_some(found)
    }
}

/// Finds updates of the same array that follow each other.
struct Chain<'a> {
    program: &'a Program,
    /// The arrays that differ between steps.
    inside: &'a BTreeSet<ArrayId>,
    in_branch: bool,
}

impl Chain<'_> {
    /// Adds the updates that lead to `a` in these statements, the last one first. Returns the array before them.
    fn updates(&self, stmts: &[Stmt], mut a: ArrayId, found: &mut Vec<ArrayId>) -> Option<ArrayId> {
        while let Some(s) = stmts.iter().find(|s| s.op.defines().contains(&a)) {
            a = match &s.op {
                Op::Permute { to, defaults, .. } if self.row(&s.op).is_some() => {
                    found.push(*to);
                    *defaults
                }
                Op::If { to, then, otherwise, .. } => {
                    let k = to.iter().position(|to| *to == a)?;
                    let branch = Chain { in_branch: true, ..*self };
                    let before = branch.updates(&then.0.stmts, then.1[k], found)?;
                    (branch.updates(&otherwise.0.stmts, otherwise.1[k], found)? == before).then_some(before)?
                }
                _ => return None,
            };
        }
        Some(a)
    }

    /// The extents of the rows of a list, if it is smaller than the states. Both branches of a conditional compute these extents, so
    /// they must be no error where there is no update.
    fn row(&self, op: &Op) -> Option<Row> {
        let Op::Permute { to, extents, target, .. } = op else { return None };
        let mut mentioned = BTreeSet::new();
        arrays_mentioned(&extents.instrs, &mut mentioned);
        let (rank, of_array) = (extents.results.len(), self.program.arrays[*to].rank);
        let is_constant = |r: &Reg| extents.instrs.iter().any(|i| matches!(i, Instr::Const(to, _) if to == r));
        if mentioned.is_disjoint(self.inside) {
            let is_small = rank < of_array || extents.results.iter().all(is_constant);
            let never_fails = extents.instrs.iter().all(|i| matches!(i, Instr::Const(..) | Instr::Extent { .. }));
            return (is_small && (never_fails || !self.in_branch)).then_some(Row::Own);
        }
        if rank >= of_array || !extents.is_total() || !keeps_all(target) {
            return None;
        }
        // If there are more elements than the extent along which their targets lie, some targets are outside: an error.
        let factors = index_factors(target);
        let along = |d: usize| {
            target.results[1..].iter().position(|r| factors[*r].as_ref().is_some_and(|factors| factors[d] != 0))
        };
        Some(Row::Along((0..rank).map(along).collect::<Option<_>>()?))
    }
}

/// The extents of a row of a list of updates.
enum Row {
    /// Those of the update.
    Own,
    /// Those of the array in these dimensions.
    Along(Vec<usize>),
}

/// What is listed for an update of an array with the extents of `initial`.
fn logged(program: &mut Program, row: Row, s: &Stmt, initial: ArrayId) -> Option<Update> {
    let Op::Permute { to, defaults, extents, target, .. } = &s.op else { return None };
    let updated = *to;
    let info = program.arrays[*defaults].clone();
    let mut b = Builder::new(&index_types(extents.results.len()));
    let index = b.params();
    let target = b.inline(target, &index);
    let (mut inside, to) = (target[0], target[1..].to_vec());
    let mut bounds = vec![];
    let extents = match row {
        Row::Own => extents.clone(),
        Row::Along(dims) => {
            let own = b.inline(extents, &[]);
            bounds.extend(index.into_iter().zip(own).map(|(i, n)| (Cmp::Lt, i, n)));
            let mut b = Builder::new(&[]);
            let extents = dims.into_iter().map(|k| b.extent(initial, k)).collect();
            b.finish(extents)
        }
    };
    // A target out of bounds is the error of the update, which comes next.
    for (dim, i) in to.iter().enumerate() {
        let (zero, n) = (b.constant(Scalar::I64(0)), b.extent(*defaults, dim));
        bounds.extend([(Cmp::Ge, *i, zero), (Cmp::Lt, *i, n)]);
    }
    for (cmp, i, bound) in bounds {
        let holds = b.compare(cmp, i, bound);
        inside = b.all([inside, holds]);
    }
    let (then, old) = b.block(|b| {
        let old: Vec<Reg> = info.columns.iter().map(|t| b.reg(*t)).collect();
        b.emit(Instr::Read { to: old.clone(), array: *defaults, index: to.clone(), site: s.site, inside: true });
        old
    });
    let (otherwise, none) = b.block(|b| info.columns.iter().map(|t| b.constant(t.zero())).collect::<Vec<Reg>>());
    let old: Vec<_> = info.columns.iter().zip(old.into_iter().zip(none)).map(|(t, (x, y))| (b.reg(*t), x, y)).collect();
    let results = [inside].into_iter().chain(to).chain(old.iter().map(|m| m.0)).collect();
    b.emit(Instr::If { cond: inside, then, otherwise, merge: old });
    let mut columns = vec![ScalarType::Bool];
    columns.extend(index_types(info.rank));
    columns.extend(&info.columns);
    let row = program.arrays.push(ArrayInfo { rank: extents.results.len(), columns });
    let info = &program.arrays[row];
    let list = program.arrays.push(ArrayInfo { rank: info.rank + 1, columns: info.columns.clone() });
    let overwritten = b.finish(results);
    Some(Update { to: updated, row, list, extents, overwritten, site: s.site })
}

impl Update {
    /// Adds a statement before the update that computes what it overwrites, and returns its array. If the update is in a branch of
    /// a conditional, this is a result of the conditional, and the other branch says that there is nothing.
    pub fn listed(&self, program: &mut Program, b: &mut Block) -> Option<ArrayId> {
        let row = |row, body: &ScalarFn| {
            let op = Op::Loop { to: vec![row], extents: self.extents.clone(), body: body.clone() };
            Stmt { op, site: self.site }
        };
        if let Some(at) = b.stmts.iter().position(|s| s.op.defines().contains(&self.to)) {
            b.stmts.insert(at, row(self.row, &self.overwritten));
            return Some(self.row);
        }
        b.stmts.iter_mut().find_map(|s| {
            let Op::If { to, then, otherwise, .. } = &mut s.op else { return None };
            let (own, other) = if then.0.walk().any(|s| s.op.defines().contains(&self.to)) {
                (then, otherwise)
            } else {
                (otherwise, then)
            };
            own.1.push(deep(|| self.listed(program, &mut own.0))?);
            let info = program.arrays[self.row].clone();
            let mut b = Builder::new(&index_types(info.rank));
            let none = info.columns.iter().map(|t| b.constant(t.zero())).collect();
            let [nothing, either] = [0, 1].map(|_| program.arrays.push(info.clone()));
            other.0.stmts.push(row(nothing, &b.finish(none)));
            other.1.push(nothing);
            to.push(either);
            Some(either)
        })
    }

    /// The statement that writes what row `at()` of the list says into `from`, and its array.
    fn undone(&self, program: &mut Program, at: &ScalarFn, from: ArrayId) -> (Stmt, ArrayId) {
        let info = program.arrays[from].clone();
        let to = program.arrays.push(info.clone());
        let columns = &program.arrays[self.list].columns;
        let entry = |part: Range<usize>| {
            let mut b = Builder::new(&index_types(self.extents.results.len()));
            let row = b.inline(at, &[]);
            let index = row.into_iter().chain(b.params()).collect();
            let all: Vec<Reg> = columns.iter().map(|t| b.reg(*t)).collect();
            b.emit(Instr::Read { to: all.clone(), array: self.list, index, site: self.site, inside: false });
            b.finish(all[part].to_vec())
        };
        let b = Builder::new(&[&info.columns[..], &info.columns[..]].concat());
        let new = b.params()[..info.columns.len()].to_vec();
        let op = Op::Permute {
            to,
            defaults: from,
            extents: self.extents.clone(),
            target: entry(0..1 + info.rank),
            // What was outside is not kept.
            inside: true,
            element: entry(1 + info.rank..columns.len()),
            comb: b.finish(new),
            monoid: None,
        };
        (Stmt { op, site: self.site }, to)
    }
}

impl Undone {
    /// Component `k` of a state, with its updates. `at` is the number of the step that is undone.
    pub fn new(program: &mut Program, body: &Body, k: usize, updates: &[ArrayId], at: &ScalarFn) -> Option<Undone> {
        let nested = body.stmts.iter().flat_map(|s| s.op.blocks()).flat_map(Block::walk);
        let all: Vec<&Stmt> = body.stmts.iter().chain(nested).collect();
        let (state, inside) = (body.state[k], body.inside());
        let updates = updates.iter().map(|a| {
            let s = all.iter().find(|s| s.op.defines().contains(a))?;
            let row = Chain { program, inside: &inside, in_branch: false }.row(&s.op)?;
            logged(program, row, s, body.init[k])
        });
        let updates = updates.collect::<Option<Vec<Update>>>()?;
        let after = program.arrays.push(program.arrays[state].clone());
        let (mut before, mut undo) = (after, vec![]);
        for u in updates.iter().rev() {
            let (s, to) = u.undone(program, at, before);
            undo.push(s);
            before = to;
        }
        Some(Undone { state, before, after, updates, undo })
    }

    /// Lists the updates in the loop at `first`, and undoes them in the one at `second`.
    pub fn insert(self, program: &mut Program, b: &mut Block, first: usize, second: usize) {
        if let Op::While { to, body, .. } = &mut b.stmts[first].op {
            for u in &self.updates {
                to.push(u.list);
                body.1.extend(u.listed(program, &mut body.0));
            }
        }
        self.carry(&mut b.stmts[second].op);
    }

    /// Undoes the updates in a loop.
    pub fn carry(self, loop_: &mut Op) {
        if let Op::While { to, init, body, .. } = loop_ {
            to.insert(init.len(), self.after);
            body.1.insert(init.len(), self.before);
            init.push(self.state);
            body.0.stmts.splice(0..0, self.undo);
        }
    }
}
