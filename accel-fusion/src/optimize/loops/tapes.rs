//! Replaces lists of states by tapes, where another loop takes the states from the last one to the first.
//!
//! NOTE [Lists that become tapes]: the derivative of a loop of arrays lists the states before all steps, and a second
//! loop reads the list from its end. For many steps, such a list is far larger than everything else. This pass finds the
//! pair of loops and replaces the list by a [tape](crate::kernel::tape): the first loop offers its states, and the second
//! one recalls them. It does so if
//!
//! - the rows of the list are a part of the first loop's state,
//! - the list and its copies are read by the second loop only, each time in the row of the step,
//! - both loops have the same number of steps, and go through the rows in opposite directions.
//!
//! Then every state is recalled once, and the tape is empty after the second loop. What is used in another way stays a
//! list, for example one that the program returns. The pass works on kernel programs because there, all backends see its
//! result, and fusion has removed everything between the list and its readers. It is the last pass but one, which only checks: the
//! statements that compute a state again are exact copies of the final statements of the first loop, so they give the same bits. A
//! component of the state that does not change needs no tape, and neither does one that is only updated (NOTE [Undone updates]).
//!
//! NOTE [Lists that only check]: a list demands that its rows have the same extents in every step. Other passes rely on
//! it: the extents of a row are those of the first one. So a list that nothing reads is dropped only if its rows have
//! these extents in any case. Otherwise the loop is an error in some runs, and what uses the extents of rows is wrong
//! there.

mod blocks;
pub(crate) mod numbers;
mod readers;
pub(crate) mod single;
mod step;
mod undo;
mod users;
mod views;

use crate::kernel::dead_code::restricted_to;
use crate::kernel::{ArrayId, Block, Instr, Op, Program, Stmt, Trips};
use crate::optimize::layout::compact::Numbers;
use accel_core::ast::deep;
use blocks::Blocks;
use numbers::{Definitions, Linear};
use readers::Readers;
use single::{Code, new_like};
use std::collections::{BTreeMap, BTreeSet};
use step::Body;
use undo::{Change, Undone};
use users::Users;
use views::{View, Views};

/// Replaces lists of states by tapes. `budget` is the number of bytes that the user gives them, if any, and `equal` are extents that are
/// equal in each run.
pub(crate) fn tapes(program: &Program, budget: Option<usize>, equal: Vec<[(ArrayId, usize); 2]>) -> Program {
    if !program.body.walk().any(|s| matches!(&s.op, Op::While { to, init, .. } if to.len() > init.len())) {
        return program.clone();
    }
    let mut program = program.clone();
    let mut body = std::mem::take(&mut program.body);
    let mut used: BTreeSet<ArrayId> = program.results.iter().copied().collect();
    body.stmts.iter().for_each(|s| s.op.used_arrays(&mut used));
    let checked = numbers::lists_that_check(&body, &program.arrays);
    drop_lists(&mut body, |list| !used.contains(list) && !checked.contains(list));
    program.body = body.clone();
    let mut definitions = Definitions::new(&program);
    equal.into_iter().for_each(|[a, b]| definitions.equate(a, b));
    program.body = Block::default();
    let mut pass = Pass { definitions, program, tapes: 0, budget, undone: BTreeSet::new() };
    pass.block(&mut body, &mut pass.program.results.clone());
    crate::optimize::compact(&Program { body, ..pass.program })
}

/// Drops the lists that are not needed.
fn drop_lists(b: &mut Block, unneeded: impl Fn(&ArrayId) -> bool) {
    b.walk_mut(|s| {
        if let Op::While { to, init, body, .. } = &mut s.op {
            without(to, &mut body.1, init.len(), &unneeded);
        }
    });
}

/// The lists of a loop, if it has some.
fn lists(op: &Op) -> Option<&[ArrayId]> {
    let Op::While { to, init, .. } = op else { return None };
    Some(&to[init.len()..]).filter(|lists| !lists.is_empty())
}

/// Removes some lists from those behind the state, with their rows.
fn without(to: &mut Vec<ArrayId>, results: &mut Vec<ArrayId>, state: usize, removed: impl Fn(&ArrayId) -> bool) {
    let keep: Vec<bool> = to.iter().enumerate().map(|(k, a)| k < state || !removed(a)).collect();
    for all in [to, results] {
        let mut keep = keep.iter();
        all.retain(|_| keep.next().copied().unwrap_or_default());
    }
}

struct Pass {
    definitions: Definitions,
    program: Program,
    /// The number of tapes so far.
    tapes: usize,
    budget: Option<usize>,
    /// The states before steps that come back by undoing updates.
    undone: BTreeSet<ArrayId>,
}

/// Two loops: one that lists states, and one that reads lists of it.
struct Pair {
    /// The position of the second loop.
    second: usize,
    /// The forms of the number of steps of the first one.
    steps: Vec<Linear>,
    /// For each list, the component of the state that it lists, and the extents of this component.
    sources: Vec<Option<usize>>,
    rows: Vec<Vec<Linear>>,
    /// The lists that the second loop reads, all lists and their copies, and the lists that something else uses.
    read: BTreeSet<usize>,
    views: BTreeMap<ArrayId, View>,
    excluded: BTreeSet<usize>,
}

/// How states come back.
struct How {
    /// The lists that are replaced.
    taken: BTreeSet<usize>,
    /// The components of the state that are kept on a tape, and the positions of the statements that compute them.
    kept: Vec<usize>,
    used: Vec<usize>,
    /// The components whose updates are undone, with these updates.
    updates: BTreeMap<usize, Vec<Change>>,
}

impl Pass {
    fn block(&mut self, b: &mut Block, results: &mut [ArrayId]) {
        if b.stmts.iter().any(|s| lists(&s.op).is_some()) {
            let mut users = Users::new(b);
            for first in 0.. {
                if first >= b.stmts.len() {
                    break;
                }
                // Several loops may take different lists.
                let mut barred = BTreeSet::new();
                while self.pair(b, first, results, &mut users, &mut barred) {}
            }
        }
        for s in &mut b.stmts {
            match &mut s.op {
                Op::If { then, otherwise, .. } => {
                    deep(|| self.block(&mut then.0, &mut then.1));
                    deep(|| self.block(&mut otherwise.0, &mut otherwise.1));
                }
                Op::While { trips, body, .. } => {
                    if let Trips::While(cond, continues) = trips {
                        deep(|| self.block(cond, &mut [*continues]));
                    }
                    deep(|| self.block(&mut body.0, &mut body.1));
                }
                Op::Recall { step, .. } => deep(|| self.block(&mut step.0, &mut step.1)),
                _ => {}
            }
        }
    }

    /// Replaces lists of the loop at `first` by a tape, if there is another loop that takes them backwards. Returns whether
    /// it makes sense to try again. `barred` are the lists that no tape can replace.
    fn pair(
        &mut self,
        b: &mut Block,
        first: usize,
        results: &mut [ArrayId],
        users: &mut Users,
        barred: &mut BTreeSet<ArrayId>,
    ) -> bool {
        let Some(found) = self.find(b, first, results, users, barred) else { return false };
        let taken = self.taken(b, first, &found);
        let Some(lists) = lists(&b.stmts[first].op).map(<[_]>::to_vec) else { return false };
        let mut replaced = None;
        if !taken.is_empty() {
            let [loop_, second] = [first, found.second].map(|at| users::name(&b.stmts[at].op));
            replaced = self.replace(b, first, results, &found, &taken);
            users.update(b);
            // It takes steps of the first loop again.
            users.copy(loop_, second);
        }
        // Another loop may take other lists.
        barred.extend(found.read.difference(&replaced.unwrap_or_default()).map(|k| lists[*k]));
        true
    }

    /// The next loop that reads lists of the loop at `first`, and what else uses them.
    fn find(
        &self,
        b: &Block,
        first: usize,
        results: &[ArrayId],
        users: &Users,
        barred: &BTreeSet<ArrayId>,
    ) -> Option<Pair> {
        let lists = lists(&b.stmts[first].op)?;
        let Op::While { to, init, trips, body, .. } = &b.stmts[first].op else { return None };
        let state = &to[..init.len()];
        let steps: Vec<Linear> = match trips {
            Trips::While(..) => self.definitions.counters(state, init, &body.1).collect(),
            Trips::Times(n, _) => vec![self.definitions.number(*n)],
        };
        let mut views = Views {
            arrays: &self.program.arrays,
            definitions: &self.definitions,
            known: BTreeMap::new(),
            excluded: BTreeSet::new(),
            steps: steps.iter().flat_map(|n| [n.clone(), self.definitions.looked_through(n)]).collect(),
        };
        let mut sources = vec![];
        for (list, (a, row)) in lists.iter().zip(&body.1[init.len()..]).enumerate() {
            let all = self.program.arrays[*a].columns.clone();
            let columns = (0..all.len()).collect();
            views.known.insert(*a, View { list, columns, all, rows: None });
            sources.push(state.iter().position(|s| s == row));
        }
        views.excluded.extend((0..lists.len()).filter(|k| sources[*k].is_none() || barred.contains(&lists[*k])));

        let (mut second, mut read) = (None, BTreeSet::new());
        let mut next: BTreeSet<usize> = lists.iter().flat_map(|a| users.of(*a)).filter(|k| *k > first).collect();
        while let Some(k) = next.pop_first() {
            let s = &b.stmts[k];
            let mut used = BTreeSet::new();
            s.op.used_arrays(&mut used);
            let used = &views.lists(&used) - &views.excluded;
            match second {
                None if matches!(s.op, Op::While { .. }) && !used.is_empty() => (second, read) = (Some(k), used),
                None => {
                    // Copies of lists have users, too.
                    let copies = views.note(s);
                    next.extend(copies.into_iter().flat_map(|a| users.of(a)));
                }
                Some(_) => views.excluded.extend(used),
            }
        }
        views.excluded.extend(views.lists(&users.checked));
        views.excluded.extend(views.lists(&results.iter().copied().collect()));
        let rows = sources.iter().map(|k| k.map(|k| self.extents(init[k])).unwrap_or_default()).collect();
        Some(Pair {
            second: second?,
            steps: views.steps,
            sources,
            rows,
            read,
            views: views.known,
            excluded: views.excluded,
        })
    }

    /// The lists that the second loop takes from their end.
    fn taken(&self, b: &Block, first: usize, found: &Pair) -> BTreeSet<usize> {
        let views = Views {
            arrays: &self.program.arrays,
            definitions: &self.definitions,
            known: found.views.clone(),
            excluded: found.excluded.clone(),
            steps: found.steps.clone(),
        };
        let Op::While { trips: of_first, .. } = &b.stmts[first].op else { return BTreeSet::new() };
        let Op::While { trips: Trips::Times(n, dir), .. } = &b.stmts[found.second].op else { return BTreeSet::new() };
        let n = self.definitions.number(*n);
        if *dir == of_first.dir() || !views.lengths().any(|length| length == n) {
            return BTreeSet::new();
        }
        let readers = Readers { views: &views, rows: &found.rows };
        let mut excluded = found.excluded.clone();
        readers.check(&b.stmts[found.second].op, &mut excluded);
        &found.read - &excluded
    }

    /// Replaces the lists `taken`, or most of them, and returns which. It is not possible if the loop uses another tape.
    fn replace(
        &mut self,
        b: &mut Block,
        first: usize,
        results: &mut [ArrayId],
        found: &Pair,
        taken: &BTreeSet<usize>,
    ) -> Option<BTreeSet<usize>> {
        let site = b.stmts[first].site;
        let of_body = Body::of(&mut self.program, &b.stmts[first].op, site)?;
        let Op::While { row: Some(row), .. } = b.stmts[found.second].op else { return None };
        let how = self.how(&of_body, found, taken)?;
        let mut code = Code::new(site);
        let at = of_body.order.step(&mut code, row);
        let at = code.done(at);
        let mut code = Code::new(site);
        let row = code.number(row);
        let row = code.done(row);
        // The updates of a step of the outer loop, which has room for them.
        let is_part = how.updates.keys().all(|k| self.undone.contains(&of_body.init[*k]));
        if let Some(budget) = self.budget.filter(|_| !is_part)
            && let all = changing(&of_body, found, taken)
            && let Some(blocks) = Blocks::new(&mut self.program, &of_body, &all, &how.updates, site)
        {
            let copies = self.without_lists(b, first, found, taken, &blocks.rows().collect());
            self.undone.extend(blocks.undone());
            let tape = (self.tapes, budget);
            self.tapes += 1;
            blocks.insert(&mut self.program, b, [first, found.second], tape, &at)?;
            self.definitions.add(b, &self.program.arrays);
            self.drop_results(b, |a| copies.contains(a));
            return Some(taken.clone());
        }
        let How { taken, kept, used, updates } = how;
        let arrays: Vec<ArrayId> = kept.iter().map(|k| of_body.state[*k]).collect();
        let after: Vec<ArrayId> = kept.iter().map(|k| of_body.next[*k]).collect();
        let again: Vec<Stmt> = used.iter().map(|k| of_body.stmts[*k].clone()).collect();

        // The arrays that come back, and the rows of lists for which they stand.
        let mut names = BTreeMap::new();
        for (a, k) in arrays.iter().zip(&kept) {
            let back = new_like(&mut self.program, *a);
            self.definitions.know(back, self.extents(of_body.init[*k]));
            names.insert(*a, back);
        }
        // What the first loop begins with, and what the second one ends with.
        let initial: Vec<ArrayId> = updates.keys().map(|k| of_body.init[*k]).collect();
        let undone = |(k, all): (&usize, &Vec<Change>)| Undone::new(&mut self.program, &of_body, *k, all, &row);
        let undone: Vec<Undone> = updates.iter().map(undone).collect::<Option<_>>()?;
        let mut rows = names.clone();
        rows.extend(undone.iter().map(|u| (u.state, u.before)));
        self.undone.extend(undone.iter().map(|u| u.before));
        let copies = self.without_lists(b, first, found, &taken, &rows);
        let ends: BTreeMap<ArrayId, ArrayId> = initial.into_iter().zip(undone.iter().map(Undone::at_last)).collect();
        let undoes = !undone.is_empty();
        for u in undone {
            u.insert(&mut self.program, b, first, found.second);
        }
        if undoes {
            self.definitions.add(b, &self.program.arrays);
        }
        // The next step of a loop around both goes on with the array that is there.
        for a in results.iter_mut() {
            if let Some(end) = ends.get(a).filter(|_| b.stmts.iter().any(|s| s.op.defines().contains(a))) {
                *a = *end;
            }
        }
        if !arrays.is_empty() {
            let back = arrays.iter().map(|a| names[a]).collect();
            let block = step::copy(&mut self.program, again, &mut names);
            self.definitions.add(&block, &self.program.arrays);
            let next = after.iter().map(|a| names.get(a).copied().unwrap_or(*a)).collect();
            let recall = Op::Recall { to: back, tape: self.tapes, at, step: (block, next) };
            let keep = Op::Keep { tape: self.tapes, arrays };
            self.tapes += 1;
            for (k, op) in [(first, keep), (found.second, recall)] {
                if let Op::While { body, .. } = &mut b.stmts[k].op {
                    body.0.stmts.insert(0, Stmt { op, site });
                }
            }
        }
        self.drop_results(b, |a| copies.contains(a));
        Some(taken)
    }

    /// In the second loop, reads the arrays that stand for rows of the lists `taken`: `rows` of components of the state. The first loop
    /// does not make these lists any more. Returns them and their copies, which nothing uses.
    fn without_lists(
        &mut self,
        b: &mut Block,
        first: usize,
        found: &Pair,
        taken: &BTreeSet<usize>,
        rows: &BTreeMap<ArrayId, ArrayId>,
    ) -> BTreeSet<ArrayId> {
        let Op::While { to, init, .. } = &b.stmts[first].op else { return BTreeSet::new() };
        let (state, lists) = to.split_at(init.len());
        let states = found.sources.iter().map(|k| k.map_or(to[0], |k| state[k]));
        let rows: Vec<ArrayId> = states.map(|a| rows.get(&a).copied().unwrap_or(a)).collect();
        let lists: BTreeSet<ArrayId> = taken.iter().map(|k| lists[*k]).collect();
        let views: BTreeMap<ArrayId, View> =
            found.views.iter().filter(|(_, v)| taken.contains(&v.list)).map(|(a, v)| (*a, v.clone())).collect();
        readers::replace(&mut b.stmts[found.second].op, &self.definitions, &views, &rows, &found.rows);
        if let Op::While { body, .. } = &mut b.stmts[found.second].op {
            let known = taken.iter().map(|list| (rows[*list], &found.rows[*list])).collect();
            self.without_row_copies(body, &known);
        }
        if let Op::While { to, init, body, .. } = &mut b.stmts[first].op {
            without(to, &mut body.1, init.len(), |a| lists.contains(a));
        }
        views.into_keys().collect()
    }

    /// How the states in the lists `taken` come back; `None` if it is not possible.
    fn how(&self, of_body: &Body, found: &Pair, taken: &BTreeSet<usize>) -> Option<How> {
        let source = |list: &usize| found.sources[*list].filter(|k| !of_body.is_constant(*k));
        let changing = changing(of_body, found, taken);
        let updated = |k: &usize| Some((*k, of_body.updates(*k, &self.program)?));
        let updates: BTreeMap<usize, Vec<Change>> = changing.iter().filter_map(updated).collect();
        let others: BTreeSet<usize> = changing.iter().copied().filter(|k| !updates.contains_key(k)).collect();
        let (kept, used) = self.closure(of_body, &others)?;
        if !kept.iter().any(|k| updates.contains_key(k)) {
            return Some(How { taken: taken.clone(), kept, used, updates });
        }
        // They cannot be computed again without the arrays that are updated. Lists of numbers are small.
        if others.iter().all(|k| self.program.arrays[of_body.state[*k]].rank == 0) {
            let taken = taken.iter().copied().filter(|list| source(list).is_none_or(|k| updates.contains_key(&k)));
            return Some(How { taken: taken.collect(), kept: vec![], used: vec![], updates });
        }
        let (kept, used) = self.closure(of_body, &changing)?;
        Some(How { taken: taken.clone(), kept, used, updates: BTreeMap::new() })
    }

    /// The [closure](Body::closure) of these components, if a tape has place for it: the others, of which there are no lists, must have
    /// the same extents in every step.
    fn closure(&self, of_body: &Body, wanted: &BTreeSet<usize>) -> Option<(Vec<usize>, Vec<usize>)> {
        let (kept, used) = of_body.closure(wanted)?;
        let stays = |k: &usize| self.extents(of_body.state[*k]) == self.extents(of_body.init[*k]);
        kept.iter().all(|k| wanted.contains(k) || stays(k)).then_some((kept, used))
    }

    fn extents(&self, a: ArrayId) -> Vec<Linear> {
        self.definitions.extents(a, self.program.arrays[a].rank)
    }

    /// Removes results of loops.
    fn drop_results(&self, b: &mut Block, dropped: impl Fn(&ArrayId) -> bool) {
        for s in &mut b.stmts {
            let Op::Loop { to, body, .. } = &mut s.op else { continue };
            if to.iter().any(&dropped) {
                let all = body.results_of(to, &self.program.arrays).into_iter();
                let left = all.filter(|(a, _)| !dropped(a)).flat_map(|(_, own)| own).copied().collect();
                to.retain(|a| !dropped(a));
                *body = restricted_to(body, left);
            }
        }
        b.stmts.retain(|s| !matches!(&s.op, Op::Loop { to, .. } if to.is_empty()));
    }

    /// Reads the arrays that have replaced rows where they are, not copies of them.
    fn without_row_copies(&self, body: &mut (Block, Vec<ArrayId>), rows: &BTreeMap<ArrayId, &Vec<Linear>>) {
        let mut copies = BTreeMap::new();
        for s in &body.0.stmts {
            let Op::Loop { to, extents, body } = &s.op else { continue };
            let extents = self.definitions.extents_of(extents);
            for (a, own) in body.results_of(to, &self.program.arrays) {
                let row = body.instrs.iter().find_map(|i| match i {
                    Instr::Read { to, array, index, .. } if to == own => Some((array, index)),
                    _ => None,
                });
                if let Some((row, index)) = row
                    && index.iter().copied().eq(body.param_regs())
                    && rows.get(row).is_some_and(|known| **known == extents)
                {
                    copies.insert(a, *row);
                }
            }
        }
        self.drop_results(&mut body.0, |a| copies.contains_key(a));
        let names = Numbers::from(copies);
        names.block(&mut body.0);
        names.arrays(&mut body.1);
    }
}

/// The components of the state in the lists `taken` that differ between steps.
fn changing(of_body: &Body, found: &Pair, taken: &BTreeSet<usize>) -> BTreeSet<usize> {
    taken.iter().filter_map(|list| found.sources[*list].filter(|k| !of_body.is_constant(*k))).collect()
}
