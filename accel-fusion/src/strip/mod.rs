//! Groups of statements that are executed together in strips of a common outermost dimension.
//!
//! ```text
//! for each strip of 32 positions of the dimension      the results of all statements for these positions
//!   for each statement                                 fit into a cache: those that only the group itself
//!     for its other indices                            needs are never written to memory
//!       for each of the 32 positions ..                a vector operation
//! ```
//!
//! NOTE [When strips pay]: a strip saves the memory traffic of what one statement of it computes and another one reads. So a
//! statement belongs to a group only if it reads a result of the group or its result is read in the group. Statements that
//! merely go over the same dimension gain nothing, and a product of two matrices from outside, in whatever disguise, is faster by itself.
//! How long the dimension is, and how much memory a strip takes, is known only when the program runs: a backend executes the statements
//! one by one where the dimension is short or the strip too large for its caches.

mod roles;
mod value;

use crate::kernel::{ArrayId, Block, Code, Instr, Op, Program, Stmt};
use roles::role;
pub use roles::{Role, roles};
use std::collections::{BTreeSet, HashMap};
pub use value::value;

/// The program with statements grouped to strips where that pays.
pub fn strips(program: &Program) -> Program {
    Program { body: block(&program.body, &program.results), ..program.clone() }
}

/// A statement with what has to be known about it again and again.
#[derive(Clone)]
struct Entry {
    stmt: Stmt,
    uses: BTreeSet<ArrayId>,
    /// The outermost extent, if the statement can have the role of a row.
    len: Option<(String, Code)>,
    /// The length of the rows that it reduces.
    reduced: Option<String>,
}

fn block(b: &Block, results: &[ArrayId]) -> Block {
    let mut entries: Vec<Entry> = b.stmts.iter().map(|s| entry(inner(s))).collect();
    // How many statements have this outermost extent: where there is only one, and no total, no group is tried.
    let mut common: HashMap<String, usize> = HashMap::new();
    for e in &entries {
        e.len.iter().map(|(len, _)| len).chain(&e.reduced).for_each(|len| *common.entry(len.clone()).or_insert(0) += 1);
    }
    let mut next = 0;
    while next < entries.len() {
        let tried = entries[next].len.as_ref().filter(|(len, _)| common[len] > 1);
        match tried.and_then(|(len, code)| group(&entries[next..], len, code, results)) {
            // The statements before the group, which come next, may be another one.
            Some(regrouped) => entries.splice(next.., regrouped).for_each(drop),
            None => next += 1,
        }
    }
    Block { stmts: entries.into_iter().map(|e| e.stmt).collect() }
}

/// The statement with strips in its blocks.
fn inner(s: &Stmt) -> Stmt {
    let mut s = s.clone();
    match &mut s.op {
        Op::If { then, otherwise, .. } => {
            for (b, results) in [then, otherwise] {
                *b = block(b, results);
            }
        }
        Op::While { cond, body, .. } => {
            cond.0 = block(&cond.0, &[cond.1]);
            body.0 = block(&body.0, &body.1);
        }
        _ => {}
    }
    s
}

fn entry(stmt: Stmt) -> Entry {
    let mut used = BTreeSet::new();
    uses(&stmt.op, &mut used);
    let len = match &stmt.op {
        Op::Loop { extents, .. } | Op::Reduce { extents, .. } => {
            value(extents, 0).map(|len| (len, Code { results: extents.results[..1].to_vec(), ..extents.clone() }))
        }
        _ => None,
    };
    let reduced = match &stmt.op {
        Op::Reduce { rows, .. } => value(&rows.len, 0),
        _ => None,
    };
    Entry { stmt, uses: used, len, reduced }
}

/// The statements with those that can be executed together with the first one as a strip, if that pays: see NOTE [When strips pay].
fn group(entries: &[Entry], len: &str, code: &Code, results: &[ArrayId]) -> Option<Vec<Entry>> {
    // Statements that turn out not to belong to the group are left out of the next attempt.
    let mut barred = BTreeSet::new();
    loop {
        let members = members(entries, len, &barred, results);
        let connected = connected(entries, &members.inside);
        let alone: Vec<usize> = members.inside.iter().copied().filter(|k| !connected.contains(k)).collect();
        if alone.contains(&0) || members.inside.len() < 2 {
            return None;
        }
        if alone.is_empty() {
            return Some(assemble(entries, &members, code, results));
        }
        barred.extend(alone);
    }
}

/// Positions of statements: those of a group, and those that must come after it.
struct Members {
    inside: Vec<usize>,
    after: Vec<usize>,
}

/// All statements that can be executed in one strip with the first one, but for those that are barred.
fn members(entries: &[Entry], len: &str, barred: &BTreeSet<usize>, results: &[ArrayId]) -> Members {
    let mut members = Members { inside: vec![], after: vec![] };
    let (mut rows, mut late) = (BTreeSet::new(), BTreeSet::new());
    for (k, e) in entries.iter().enumerate() {
        let to = e.stmt.op.defines();
        let is_used = |k: usize| {
            to.iter().any(|a| results.contains(a) || entries[k + 1..].iter().any(|later| later.uses.contains(a)))
        };
        let is_late = !e.uses.is_disjoint(&late);
        let role = if is_late || barred.contains(&k) { None } else { role(&e.stmt.op, len, &rows) };
        match role {
            Some(Role::Row) => {
                rows.extend(to.iter().copied());
                members.inside.push(k);
            }
            Some(Role::Total) if is_used(k) => {
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

/// The statements of a group that read what another one computes, or compute what another one reads.
fn connected(entries: &[Entry], group: &[usize]) -> BTreeSet<usize> {
    let maker: HashMap<ArrayId, usize> =
        group.iter().flat_map(|k| entries[*k].stmt.op.defines().iter().map(|a| (*a, *k))).collect();
    let mut found = BTreeSet::new();
    for k in group {
        let mut read = BTreeSet::new();
        entries[*k].stmt.op.codes().iter().for_each(|(_, c)| reads(&c.instrs, &mut read));
        for maker in read.iter().filter_map(|a| maker.get(a)) {
            found.extend([*k, *maker]);
        }
    }
    found
}

/// What need not come after the group, the group, and what must.
fn assemble(entries: &[Entry], members: &Members, len: &Code, results: &[ArrayId]) -> Vec<Entry> {
    let pick = |which: &[usize]| -> Vec<Entry> { which.iter().map(|k| entries[*k].clone()).collect() };
    let is_before = |k: &usize| !members.inside.contains(k) && !members.after.contains(k);
    let before: Vec<usize> = (0..entries.len()).filter(is_before).collect();
    let (before, body, after) = (pick(&before), pick(&members.inside), pick(&members.after));
    let is_seen = |a: &ArrayId| results.contains(a) || after.iter().any(|e| e.uses.contains(a));
    let to = body.iter().flat_map(|e| e.stmt.op.defines()).copied().filter(is_seen).collect();
    let site = body[0].stmt.site;
    let body = Block { stmts: body.into_iter().map(|e| e.stmt).collect() };
    let strip = entry(Stmt { op: Op::Strip { to, len: len.clone(), body }, site });
    [before, vec![strip], after].concat()
}

/// The arrays that an operation reads or asks for extents, those that it defines inside included.
fn uses(op: &Op, found: &mut BTreeSet<ArrayId>) {
    op.codes().iter().for_each(|(_, c)| arrays(&c.instrs, found));
    match op {
        Op::Permute { defaults, .. } => found.extend([*defaults]),
        Op::Reshape { from, .. } => found.extend([*from]),
        Op::If { then, otherwise, .. } => found.extend(then.1.iter().chain(&otherwise.1)),
        Op::While { init, cond, body, .. } => found.extend(init.iter().chain([&cond.1]).chain(&body.1)),
        Op::Strip { to, .. } => found.extend(to),
        Op::Literal { .. } | Op::Loop { .. } | Op::Reduce { .. } | Op::Scan { .. } => {}
    }
    op.blocks().iter().flat_map(|b| &b.stmts).for_each(|s| uses(&s.op, found));
}

fn arrays(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    for i in instrs {
        if let Instr::Extent(_, a, _) | Instr::Read { array: a, .. } = i {
            found.insert(*a);
        }
        i.inner().into_iter().for_each(|inner| arrays(inner, found));
    }
}

fn reads(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    for i in instrs {
        if let Instr::Read { array, .. } = i {
            found.insert(*array);
        }
        i.inner().into_iter().for_each(|inner| reads(inner, found));
    }
}
