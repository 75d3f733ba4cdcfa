//! Strip-mining: groups statements that can be executed together, in strips of a common outermost dimension.
//!
//! ```text
//! for each strip of 32 positions of the dimension      the results of all statements for these positions
//!   for each statement                                 fit into a cache: those that only the group itself
//!     for its other indices                            needs are never written to memory
//!       for each of the 32 positions ..                a vector operation
//! ```
//!
//! NOTE [When strips pay]: a strip saves memory traffic where one of its statements reads what another one computes. So
//! a statement belongs to a group only if it reads a result of the group, or the group reads its result. Statements
//! that only have a dimension in common gain nothing. A single product of two matrices is faster alone, since its
//! kernel uses blocks of both matrices for caches and registers. A batch of many small products is as fast in strips. A
//! reduction along the dimension can have another candidate: the dimension of its own results. It is best placed with
//! the largest array that it reads, because a vector's strip is small beside a matrix that the reduction also reads.
//! The length of the dimension and the memory of a strip depend on extents: if a strip would be far too large for the
//! caches, the backend executes its statements one by one.

mod finer;
mod roles;
mod value;

use crate::kernel::{
    self, ArrayId, Block, Instr, LaneFn, Op, Program, Reg, ScalarFn, Stmt, arrays_mentioned, arrays_read, walk,
};
use crate::optimize::{Place, Rule, StridedProduct, rewrite};
use accel_core::ast::deep;
use accel_core::repr::op::{Num2, Op2};
use roles::{Lengths, role};
pub use roles::{Role, roles};
use std::collections::{BTreeSet, HashMap};
pub use value::value;

/// Groups statements into strips where this pays.
pub(crate) fn strips(program: &Program) -> Program {
    let mut program = program.clone();
    let body = std::mem::take(&mut program.body);
    program.body = block(body, &program.results).0;
    program
}

/// Replaces the strips that define these arrays by their statements, one after the other.
pub(crate) fn dissolve(program: &Program, strips: &BTreeSet<ArrayId>) -> Program {
    rewrite(program, &mut Replaced { strips, by: |_: &mut Place, _: &[ArrayId], _: &Block| None })
}

/// As [`dissolve`], but the statements are in finer strips where this is possible: see NOTE [Finer strips].
pub(crate) fn finer(program: &Program, strips: &BTreeSet<ArrayId>) -> Program {
    let form = |b: Block, results: &[ArrayId]| block(b, results).0;
    let by = |place: &mut Place, to: &[ArrayId], body: &Block| finer::finer(place.arrays, to, body, &form);
    rewrite(program, &mut Replaced { strips, by })
}

/// Replaces the strips that define some arrays. `by` gives the statements in the place of a strip, from its results and its body.
struct Replaced<'s, F> {
    strips: &'s BTreeSet<ArrayId>,
    by: F,
}

impl<F: FnMut(&mut Place, &[ArrayId], &Block) -> Option<Vec<Stmt>>> Rule for Replaced<'_, F> {
    fn stmt(&mut self, place: &mut Place, mut s: Stmt, before: &mut Vec<Stmt>) {
        match &mut s.op {
            Op::Strip { to, body, .. } if to.iter().any(|a| self.strips.contains(a)) => {
                before.append(&mut (self.by)(place, to, body).unwrap_or_else(|| std::mem::take(&mut body.stmts)));
            }
            _ => before.push(s),
        }
    }
}

/// The arrays that strips define.
pub fn defined_by_strips(program: &Program) -> BTreeSet<ArrayId> {
    let strips = program.body.walk().filter(|s| matches!(s.op, Op::Strip { .. }));
    strips.flat_map(|s| s.op.defines().to_vec()).collect()
}

/// The largest number of statements of a group: a C compiler takes more than twice as long for a function of twice the
/// size.
const MAX_STATEMENTS: usize = 40;
/// The largest distance between the statements of a group. So the search for a group does not visit all statements of a
/// long block.
const WINDOW: usize = 4 * MAX_STATEMENTS;

/// A statement, with facts about it that the search needs repeatedly.
struct Entry {
    stmt: Stmt,
    /// The arrays that it uses, except those that its own blocks define.
    uses: BTreeSet<ArrayId>,
    lengths: Lengths,
    /// Whether it is faster alone: a product of two matrices or a convolution, or scalar loops, which are computed for a vector
    /// of elements at a time without a strip.
    is_alone: bool,
}

/// Forms strips in a block. Also returns the arrays that the block uses but does not define.
fn block(mut b: Block, results: &[ArrayId]) -> (Block, BTreeSet<ArrayId>) {
    let stmts = std::mem::take(&mut b.stmts);
    let mut entries: Vec<Entry> = deep(|| stmts.into_iter().map(with_inner_strips).collect());
    let mut used: BTreeSet<ArrayId> = results.iter().copied().collect();
    entries.iter().for_each(|e| used.extend(&e.uses));
    // The number of statements with each outermost extent. If there is only one, and no total, no group is tried.
    let mut common: HashMap<String, usize> = HashMap::new();
    for e in &entries {
        let Lengths { outermost, reduced } = &e.lengths;
        outermost.iter().chain(reduced).for_each(|len| *common.entry(len.clone()).or_insert(0) += 1);
    }
    let mut known = Known { ranks: entries.iter().flat_map(|e| ranks(&e.stmt.op)).collect(), used };
    let mut next = 0;
    while next < entries.len() {
        let window = next..entries.len().min(next + WINDOW);
        let tried = entries[next].lengths.outermost.as_ref().filter(|len| common[*len] > 1);
        match tried.and_then(|len| group(&entries[window.clone()], len, &known)) {
            Some(members) => {
                let found: Vec<Entry> = entries.drain(window).collect();
                let after = entries.split_off(next);
                let is_seen = |a: &ArrayId| results.contains(a) || after.iter().any(|e| e.uses.contains(a));
                // The statements before the group come next, and may start another group.
                entries.extend(assemble(found, &members, is_seen));
                entries.extend(after);
            }
            None => {
                ranks(&entries[next].stmt.op).iter().for_each(|(a, _)| _ = known.ranks.remove(a));
                next += 1;
            }
        }
    }
    let stmts: Vec<Stmt> = entries.into_iter().map(|e| e.stmt).collect();
    stmts.iter().flat_map(|s| s.op.defines()).for_each(|a| _ = known.used.remove(&a));
    (Block { stmts }, known.used)
}

/// The facts about the arrays of a block.
struct Known {
    /// The ranks of the arrays that loops and reductions define, from the current statement on.
    ranks: HashMap<ArrayId, usize>,
    /// The arrays that something uses.
    used: BTreeSet<ArrayId>,
}

/// Forms strips in the blocks of a statement.
fn with_inner_strips(mut s: Stmt) -> Entry {
    let mut uses = BTreeSet::new();
    if !matches!(s.op, Op::Strip { .. }) {
        for (b, results) in s.op.blocks_with_results_mut() {
            let (with_strips, inside) = block(std::mem::take(b), results);
            *b = with_strips;
            uses.extend(inside);
        }
    }
    s.op.scalar_fns().iter().for_each(|(_, c)| arrays_mentioned(&c.instrs, &mut uses));
    match &s.op {
        // The results of its blocks are used there.
        Op::If { .. } | Op::Recall { .. } => {}
        Op::While { init, trips, .. } => {
            uses.extend(init);
            uses.extend(trips.number());
        }
        op => op.used_arrays(&mut uses),
    }
    entry(s, uses)
}

fn entry(stmt: Stmt, uses: BTreeSet<ArrayId>) -> Entry {
    let is_alone = match &stmt.op {
        Op::Loop { body, .. } => LaneFn::of_loops(body).is_some(),
        Op::Reduce { extents, rows, .. } => {
            let products = StridedProduct::terms_of_rows(extents.results.len(), rows);
            let digits = products.iter().flatten().flat_map(|p| &p.digits);
            products.is_some() && digits.into_iter().all(|d| d.role != kernel::Role::Batch)
        }
        _ => false,
    };
    Entry { lengths: Lengths::new(&stmt.op), is_alone, stmt, uses }
}

/// The statements that can be executed in one strip with the first one, if this pays: see NOTE [When strips pay].
fn group(entries: &[Entry], len: &str, known: &Known) -> Option<Members> {
    // Statements that turn out not to belong to the group are excluded from the next attempt.
    let mut barred = BTreeSet::new();
    loop {
        let members = members(entries, len, &barred, known);
        let connected = connected(entries, &members.inside);
        let alone: Vec<usize> = members.inside.iter().copied().filter(|k| !connected.contains(k)).collect();
        if alone.contains(&0) || members.inside.len() < 2 {
            return None;
        }
        if alone.is_empty() {
            return Some(members);
        }
        barred.extend(alone);
    }
}

/// Positions of statements: those of a group, and those that must come after it.
#[derive(Default)]
struct Members {
    inside: Vec<usize>,
    after: Vec<usize>,
    /// Whether nothing more can belong to the group.
    is_complete: bool,
}

/// All statements that can be executed in one strip with the first one, except those that are barred.
fn members(entries: &[Entry], len: &str, barred: &BTreeSet<usize>, known: &Known) -> Members {
    let mut members = Members::default();
    let Known { ranks, used } = known;
    let fails = |e: &Entry| e.stmt.op.scalar_fns().iter().any(|(_, code)| code.can_fail());
    let can_fail = |inside: &[usize]| inside.iter().any(|k| fails(&entries[*k]));
    let (mut rows, mut late) = (BTreeSet::new(), BTreeSet::new());
    for (k, e) in entries.iter().enumerate() {
        let to = e.stmt.op.defines();
        let largest = e.uses.iter().filter_map(|a| ranks.get(a)).max();
        let reads_largest = |rows: &BTreeSet<ArrayId>| e.uses.intersection(rows).any(|a| ranks.get(a) == largest);
        let is_late = !e.uses.is_disjoint(&late);
        // Checks come before the statement for which they are made, which does not use them: NOTE [Hoisted checks]. If they use
        // the group, or if it can fail before them, everything from them on stays behind it.
        let checks = matches!(&e.stmt.op, Op::If { to, .. } if to.is_empty());
        // So do comparisons of extents: NOTE [Extents that were compared].
        let stays = checks || e.stmt.op.compares_extents();
        let uses_group = is_late || !e.uses.is_disjoint(&rows);
        if members.is_complete || stays && uses_group || checks && can_fail(&members.inside) {
            members.is_complete = true;
            members.after.push(k);
            continue;
        }
        let is_full = members.inside.len() == MAX_STATEMENTS;
        let is_alone = is_late || is_full || e.is_alone || barred.contains(&k);
        let role = if is_alone { None } else { role(&e.stmt.op, &e.lengths, len, &rows) };
        let role = role.filter(|role| match role {
            Role::Row => !reads_across(&e.stmt.op),
            Role::Total => {
                let is_read = |a: ArrayId| members.inside.iter().any(|k| entries[*k].uses.contains(&a));
                totals_across(&e.stmt.op).is_none_or(is_read)
            }
        });
        match role {
            Some(Role::Row) => {
                rows.extend(to.iter().copied());
                members.inside.push(k);
            }
            Some(Role::Total) if to.iter().any(|a| used.contains(a)) && reads_largest(&rows) => {
                late.extend(to.iter().copied());
                members.inside.push(k);
            }
            _ if is_late || !e.uses.is_disjoint(&rows) => {
                late.extend(to.iter().copied());
                members.after.push(k);
            }
            _ => {}
        }
    }
    members
}

/// Whether an instruction of a row statement reads numbers whose index has the position elsewhere than in the outermost dimension.
fn is_across(i: &Instr) -> bool {
    matches!(i, Instr::Read { index, .. } if index.iter().skip(1).any(|r| *r == Reg::new(0)))
}

/// Whether the rows of a row statement read such numbers. In a strip, they are vectors in memory.
pub fn sums_across(op: &Op) -> bool {
    matches!(op, Op::Reduce { rows, .. } if walk(&rows.element.instrs).any(is_across))
}

/// Whether a reduction of rows reads such numbers in a way in which they are no part of a strip: they are not in its working
/// memory, and lanes do not share them. A sum of arithmetic can have the position as the innermost index, if several results share
/// these numbers: then they are a vector in memory.
fn reads_across(op: &Op) -> bool {
    let Op::Reduce { extents, rows, .. } = op else { return false };
    let position = Reg::new(0);
    let is_vector = |i: &Instr| match i {
        Instr::Read { index, inside: true, .. } => {
            index.last() == Some(&position) && index.iter().filter(|r| **r == position).count() == 1
        }
        _ => false,
    };
    let is_arithmetic = |i: &Instr| match i {
        Instr::Const(..) | Instr::Extent(..) | Instr::Read { .. } => true,
        Instr::Op2(_, Op2::Num(Num2::Add | Num2::Sub | Num2::Mul), ..) => true,
        i => i.is_float_arithmetic(&rows.element.types),
    };
    let is_sum =
        extents.results.len() > 1 && rows.float_sum().is_some() && rows.element.instrs.iter().all(is_arithmetic);
    walk(&rows.element.instrs).any(|i| is_across(i) && !(is_sum && is_vector(i)))
}

/// An array of which each of several totals reads numbers of its own that are adjacent along the positions, as in the product of a
/// matrix and a computed vector. Its rows are best read as they are in memory, unless the strip reads them anyway.
fn totals_across(op: &Op) -> Option<ArrayId> {
    let Op::Reduce { extents, rows, .. } = op else { return None };
    let (totals, position) = (extents.results.len(), Reg::new(extents.results.len()));
    walk(&rows.element.instrs).find_map(|i| match i {
        Instr::Read { array, index, .. } if index.last() == Some(&position) && index.iter().any(|r| *r < totals) => {
            Some(*array)
        }
        _ => None,
    })
}

/// The ranks of the arrays that a loop or reduction defines.
fn ranks(op: &Op) -> Vec<(ArrayId, usize)> {
    match op {
        Op::Loop { extents, .. } | Op::Reduce { extents, .. } => {
            op.defines().iter().map(|a| (*a, extents.results.len())).collect()
        }
        Op::Strip { body, .. } => body.stmts.iter().flat_map(|s| ranks(&s.op)).collect(),
        _ => vec![],
    }
}

/// The statements of a group that read what another one computes, or compute what another one reads.
fn connected(entries: &[Entry], group: &[usize]) -> BTreeSet<usize> {
    let maker: HashMap<ArrayId, usize> =
        group.iter().flat_map(|k| entries[*k].stmt.op.defines().into_iter().map(|a| (a, *k))).collect();
    let mut found = BTreeSet::new();
    for k in group {
        let mut read = BTreeSet::new();
        entries[*k].stmt.op.scalar_fns().iter().for_each(|(_, c)| arrays_read(&c.instrs, &mut read));
        for maker in read.iter().filter_map(|a| maker.get(a)) {
            found.extend([*k, *maker]);
        }
    }
    found
}

/// The statements before the group, the group, and the statements that must come after it.
fn assemble(entries: Vec<Entry>, members: &Members, is_seen_later: impl Fn(&ArrayId) -> bool) -> Vec<Entry> {
    let (mut before, mut body, mut after) = (vec![], vec![], vec![]);
    for (k, e) in entries.into_iter().enumerate() {
        let part = match k {
            k if members.inside.contains(&k) => &mut body,
            k if members.after.contains(&k) => &mut after,
            _ => &mut before,
        };
        part.push(e);
    }
    let is_seen = |a: &ArrayId| is_seen_later(a) || after.iter().any(|e| e.uses.contains(a));
    let to = body.iter().flat_map(|e| e.stmt.op.defines()).filter(is_seen).collect();
    let site = body[0].stmt.site;
    // The first statement is a row statement, so its first extent is that of the strips.
    let extents = body[0].stmt.op.scalar_fns()[0].1;
    let len = ScalarFn { results: extents.results[..1].to_vec(), ..extents.clone() };
    let body = Block { stmts: body.into_iter().map(|e| e.stmt).collect() };
    let op = Op::Strip { to, len, body };
    let mut uses = BTreeSet::new();
    op.used_arrays(&mut uses);
    before.push(entry(Stmt { op, site }, uses));
    before.append(&mut after);
    before
}
