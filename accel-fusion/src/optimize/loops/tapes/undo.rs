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
//!
//! A step may itself update in a loop, as often in each step: then a row of the list is a list of what the steps of the inner loop
//! overwrite, and another inner loop undoes them. In the second loop, the inner one is taken again and undone again, for its own
//! derivative. This ends with the array with which it began, so the next step goes on with it: nothing else needs the former one, and all
//! of this happens in place.

use super::single::{Code, new_like, new_single, single};
use super::step::Body;
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::restricted_to;
use crate::kernel::{
    ArrayId, ArrayInfo, Block, Instr, Op, Program, Reg, ScalarFn, SiteId, Stmt, Trips, arrays_mentioned,
};
use crate::optimize::loops::hoisted_checks::{index_factors, keeps_all};
use accel_core::ast::{Dir, deep};
use accel_core::repr::op::{Cmp, Num2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::BTreeSet;
use std::ops::Range;

/// A change of a component of the state.
pub enum Change {
    /// An update: the array that it defines.
    Update(ArrayId),
    /// The changes in each step of an inner loop, in order, the number of its steps, and their direction.
    Steps(ScalarFn, Dir, Vec<Change>),
}

/// An update that a loop lists.
pub struct Update {
    /// The array that it defines.
    to: ArrayId,
    /// The array of what it overwrites, and the list of such arrays.
    row: ArrayId,
    pub list: ArrayId,
    /// The extents of the array of what it overwrites.
    extents: ScalarFn,
    /// If it is in inner loops: how often each of them runs, and its list. The outermost one is first.
    inner: Vec<(ScalarFn, ArrayId)>,
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

impl Body {
    /// The arrays that differ between steps.
    fn inside(&self) -> BTreeSet<ArrayId> {
        let mut inside: BTreeSet<ArrayId> = self.state.iter().copied().collect();
        let nested = self.stmts.iter().flat_map(|s| s.op.blocks()).flat_map(Block::walk);
        inside.extend(self.stmts.iter().chain(nested).flat_map(|s| s.op.defines()));
        inside
    }

    /// The statements of the body, and those inside of them.
    fn all(&self) -> Vec<&Stmt> {
        let nested = self.stmts.iter().flat_map(|s| s.op.blocks()).flat_map(Block::walk);
        self.stmts.iter().chain(nested).collect()
    }

    /// The changes that lead from a component of the state to its next value, in order, if all can be undone.
    pub fn updates(&self, k: usize, program: &Program) -> Option<Vec<Change>> {
        let chain = Chain { program, all: &self.all(), inside: &self.inside(), in_branch: false };
        let mut found = vec![];
        let first = chain.updates(&self.stmts, self.next[k], &mut found)?;
        found.reverse();
        (first == self.state[k] && !found.is_empty()).then_some(found)
    }
}

/// Finds updates of the same array that follow each other.
struct Chain<'a> {
    program: &'a Program,
    /// The statements of the body.
    all: &'a [&'a Stmt],
    /// The arrays that differ between steps.
    inside: &'a BTreeSet<ArrayId>,
    in_branch: bool,
}

impl Chain<'_> {
    /// Adds the updates that lead to `a` in these statements, the last one first. Returns the array before them.
    fn updates(&self, stmts: &[Stmt], mut a: ArrayId, found: &mut Vec<Change>) -> Option<ArrayId> {
        while let Some(s) = stmts.iter().find(|s| s.op.defines().contains(&a)) {
            a = match &s.op {
                Op::Permute { to, defaults, .. } if row(self.program, self.inside, self.in_branch, &s.op).is_some() => {
                    found.push(Change::Update(*to));
                    *defaults
                }
                Op::While { to, init, trips, body, .. } => {
                    let k = to[..init.len()].iter().position(|to| *to == a)?;
                    let mut changes = vec![];
                    let first = deep(|| self.updates(&body.0.stmts, body.1[k], &mut changes))?;
                    (first == a).then_some(())?;
                    if !changes.is_empty() {
                        changes.reverse();
                        found.push(Change::Steps(self.number_of_steps(trips, s.site)?, trips.dir(), changes));
                    }
                    init[k]
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

    /// How often an inner loop runs, if it is as often in all steps of the outer one.
    fn number_of_steps(&self, trips: &Trips, site: SiteId) -> Option<ScalarFn> {
        let n = trips.number()?;
        if !self.inside.contains(&n) {
            let mut code = Code::new(site);
            let number = code.number(n);
            return Some(code.done(number));
        }
        let is_same = |code: &ScalarFn| {
            let mut mentioned = BTreeSet::new();
            arrays_mentioned(&code.instrs, &mut mentioned);
            code.is_total() && mentioned.is_disjoint(self.inside)
        };
        let in_step = self.all.iter().find_map(|s| {
            let Op::Loop { to, body, .. } = &s.op else { return None };
            let columns = body.results_of(to, &self.program.arrays);
            let (_, own) = columns.into_iter().find(|(a, _)| *a == n)?;
            Some(restricted_to(body, own.to_vec()))
        });
        in_step.filter(is_same)
    }
}

/// The extents of the rows of a list, if it is smaller than the states. Both branches of a conditional compute these extents, so they must
/// be no error where there is no update. `inside` are the arrays that differ between steps.
fn row(program: &Program, inside: &BTreeSet<ArrayId>, in_branch: bool, op: &Op) -> Option<Row> {
    let Op::Permute { to, extents, target, .. } = op else { return None };
    let mut mentioned = BTreeSet::new();
    arrays_mentioned(&extents.instrs, &mut mentioned);
    let (rank, of_array) = (extents.results.len(), program.arrays[*to].rank);
    let is_constant = |r: &Reg| extents.instrs.iter().any(|i| matches!(i, Instr::Const(to, _) if to == r));
    if mentioned.is_disjoint(inside) {
        let is_small = rank < of_array || extents.results.iter().all(is_constant);
        let never_fails = extents.instrs.iter().all(|i| matches!(i, Instr::Const(..) | Instr::Extent { .. }));
        return (is_small && (never_fails || !in_branch)).then_some(Row::Own);
    }
    if rank >= of_array || !extents.is_total() || !keeps_all(target) {
        return None;
    }
    // If there are more elements than the extent along which their targets lie, some targets are outside: an error.
    let factors = index_factors(target);
    let along =
        |d: usize| target.results[1..].iter().position(|r| factors[*r].as_ref().is_some_and(|factors| factors[d] != 0));
    Some(Row::Along((0..rank).map(along).collect::<Option<_>>()?))
}

/// The extents of a row of a list of updates.
enum Row {
    /// Those of the update.
    Own,
    /// Those of the array in these dimensions.
    Along(Vec<usize>),
}

/// What is listed for an update of an array with the extents of `initial`.
fn logged(program: &mut Program, row: Row, s: &Stmt, initial: ArrayId, inner: &[ScalarFn]) -> Option<Update> {
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
    let mut list_of = |depth: usize| {
        let ArrayInfo { rank, columns } = program.arrays[row].clone();
        program.arrays.push(ArrayInfo { rank: rank + depth, columns })
    };
    let list = list_of(inner.len() + 1);
    let inner = inner.iter().enumerate().map(|(k, n)| (n.clone(), list_of(inner.len() - k))).collect();
    let overwritten = b.finish(results);
    Some(Update { to: updated, row, list, extents, inner, overwritten, site: s.site })
}

impl Update {
    /// The extents of what the steps of the inner loops from this one on overwrite.
    pub fn extents(&self, depth: usize) -> ScalarFn {
        let mut b = Builder::new(&[]);
        let mut all = vec![];
        for (n, _) in &self.inner[depth..] {
            let (n, zero) = (b.inline(n, &[])[0], b.constant(Scalar::I64(0)));
            all.push(b.index_op(Num2::Max, n, zero));
        }
        all.extend(b.inline(&self.extents, &[]));
        b.finish(all)
    }

    /// Adds a statement before the update that computes what it overwrites, and returns its array. If the update is in a branch of
    /// a conditional, this is a result of the conditional, and the other branch says that there is nothing. If it is in an inner loop,
    /// this is a list.
    pub fn listed(&self, program: &mut Program, b: &mut Block) -> Option<ArrayId> {
        self.listed_in(program, b, 0)
    }

    /// As [`listed`](Self::listed), in as many inner loops.
    fn listed_in(&self, program: &mut Program, b: &mut Block, depth: usize) -> Option<ArrayId> {
        let row = |row, extents: ScalarFn, body: ScalarFn| {
            let op = Op::Loop { to: vec![row], extents, body };
            Stmt { op, site: self.site }
        };
        if let Some(at) = b.stmts.iter().position(|s| s.op.defines().contains(&self.to)) {
            b.stmts.insert(at, row(self.row, self.extents.clone(), self.overwritten.clone()));
            return Some(self.row);
        }
        let is_in = |b: &Block| b.walk().any(|s| s.op.defines().contains(&self.to));
        b.stmts.iter_mut().find_map(|s| match &mut s.op {
            Op::While { to, body, .. } if is_in(&body.0) => {
                let (_, list) = self.inner.get(depth)?;
                body.1.push(deep(|| self.listed_in(program, &mut body.0, depth + 1))?);
                to.push(*list);
                Some(*list)
            }
            Op::If { to, then, otherwise, .. } => {
                let (own, other) = if is_in(&then.0) { (then, otherwise) } else { (otherwise, then) };
                let found = deep(|| self.listed_in(program, &mut own.0, depth))?;
                own.1.push(found);
                let info = program.arrays[found].clone();
                let mut b = Builder::new(&index_types(info.rank));
                let none = info.columns.iter().map(|t| b.constant(t.zero())).collect();
                let [nothing, either] = [0, 1].map(|_| program.arrays.push(info.clone()));
                other.0.stmts.push(row(nothing, self.extents(depth), b.finish(none)));
                other.1.push(nothing);
                to.push(either);
                Some(either)
            }
            _ => None,
        })
    }

    /// Adds the statement that writes what the list says at the place `at()` into `from`. Returns its array.
    fn undone(&self, program: &mut Program, at: &[ScalarFn], from: ArrayId, undo: &mut Vec<Stmt>) -> ArrayId {
        let info = program.arrays[from].clone();
        let to = program.arrays.push(info.clone());
        let columns = &program.arrays[self.list].columns;
        let entry = |part: Range<usize>| {
            let mut b = Builder::new(&index_types(self.extents.results.len()));
            let row: Vec<Reg> = at.iter().flat_map(|at| b.inline(at, &[])).collect();
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
        undo.push(Stmt { op, site: self.site });
        to
    }
}

/// What is known of a loop whose updates are listed.
struct Log<'a> {
    all: Vec<&'a Stmt>,
    inside: BTreeSet<ArrayId>,
    /// The initial array.
    initial: ArrayId,
}

impl Log<'_> {
    /// Adds what is listed for changes in inner loops with these numbers of steps.
    fn changes(
        &self,
        program: &mut Program,
        changes: &[Change],
        inner: &[ScalarFn],
        updates: &mut Vec<Update>,
    ) -> Option<()> {
        changes.iter().try_for_each(|change| match change {
            Change::Update(a) => {
                let s = self.all.iter().find(|s| s.op.defines().contains(a))?;
                let row = row(program, &self.inside, false, &s.op)?;
                updates.push(logged(program, row, s, self.initial, inner)?);
                Some(())
            }
            Change::Steps(n, _, changes) => {
                let inner = [inner, std::slice::from_ref(n)].concat();
                deep(|| self.changes(program, changes, &inner, updates))
            }
        })
    }
}

/// The statements that undo changes of `from`, the last one first, and the array before them. `left` are the updates that are not undone
/// yet, and `at` is the place of what they overwrote.
fn undone(
    program: &mut Program,
    changes: &[Change],
    left: &mut dyn Iterator<Item = &Update>,
    at: &[ScalarFn],
    mut from: ArrayId,
) -> Option<(Vec<Stmt>, ArrayId)> {
    let mut undo = vec![];
    for change in changes.iter().rev() {
        from = match change {
            Change::Update(_) => left.next()?.undone(program, at, from, &mut undo),
            Change::Steps(n, dir, changes) => {
                deep(|| undone_steps(program, (n, *dir, changes), left, at, from, &mut undo))?
            }
        };
    }
    Some((undo, from))
}

/// Adds a loop that undoes the steps of an inner loop: how often and in which direction this one runs, and its changes. Returns the array
/// before them.
fn undone_steps(
    program: &mut Program,
    (n, dir, changes): (&ScalarFn, Dir, &[Change]),
    left: &mut dyn Iterator<Item = &Update>,
    at: &[ScalarFn],
    from: ArrayId,
    undo: &mut Vec<Stmt>,
) -> Option<ArrayId> {
    let mut left = left.peekable();
    let site = left.peek()?.site;
    let state = new_like(program, from);
    let [number, row] = [(); 2].map(|()| new_single(program, ScalarType::I64));
    let mut code = Code::new(site);
    let of_step = code.number(row);
    let at = [at, &[code.done(of_step)]].concat();
    let (stmts, before) = undone(program, changes, &mut left, &at, state)?;
    let opposite = if dir == Dir::Left { Dir::Right } else { Dir::Left };
    let (trips, body) = (Trips::Times(number, opposite), (Block { stmts }, vec![before]));
    let op = Op::While { to: vec![state], init: vec![from], trips, row: Some(row), body };
    undo.extend([single(number, n.clone(), site), Stmt { op, site }]);
    Some(state)
}

impl Undone {
    /// Component `k` of a state, with its changes. `at` is the number of the step that is undone.
    pub fn new(program: &mut Program, body: &Body, k: usize, changes: &[Change], at: &ScalarFn) -> Option<Undone> {
        let state = body.state[k];
        let mut updates = vec![];
        let log = Log { all: body.all(), inside: body.inside(), initial: body.init[k] };
        log.changes(program, changes, &[], &mut updates)?;
        let after = new_like(program, state);
        let (undo, before) = undone(program, changes, &mut updates.iter().rev(), std::slice::from_ref(at), after)?;
        Some(Undone { state, before, after, updates, undo })
    }

    /// The component after all steps have been undone: it is the initial one.
    pub fn at_last(&self) -> ArrayId {
        self.after
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
