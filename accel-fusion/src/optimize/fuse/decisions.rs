//! Decisions: what is decided twice in a row is decided once, and a matrix that both branches sum is computed in them.
//!
//! NOTE [Matrices of decided sums]: the derivative of a sum over a matrix of computed extents decides, for each argument, between a sum
//! and a scatter (NOTE [Targets within bounds]), and all branches read the matrix of adjoints. Before the decisions, it would be
//! stored as a whole. In one branch, strips see it together with its sums, and keep a part of it at a time.

use crate::kernel::{ArrayId, Block, Instr, Op, Stmt, arrays_mentioned};
use crate::optimize::layout::compact::Numbers;
use crate::optimize::rules::{Place, Rule};
use std::collections::{BTreeMap, BTreeSet};

/// `a = if c { x } else { y }; b = if c { z } else { w }` is `a, b = if c { x, z } else { y, w }`, and
/// `m = loop f; a = if c { sum m } else { g m }` is `a = if c { m = loop f; sum m } else { n = loop f; g n }`.
pub struct Decisions;

impl Rule for Decisions {
    fn block(&mut self, place: &mut Place, b: &mut Block, results: &mut [ArrayId]) {
        if !b.stmts.iter().any(|s| matches!(&s.op, Op::If { to, .. } if !to.is_empty())) {
            return;
        }
        for s in std::mem::take(&mut b.stmts) {
            let rest = match b.stmts.last_mut() {
                Some(last) => joined(&mut last.op, s),
                None => Some(s),
            };
            b.stmts.extend(rest);
        }
        // From the last statement on: what is computed in branches can leave the only uses of another array there.
        let mut later: Vec<Stmt> = vec![];
        let mut users: Users = results.iter().map(|a| (*a, None)).collect();
        while let Some(s) = b.stmts.pop() {
            let used = used_arrays(&s);
            let user = match only_user(&s.op, &users).filter(|k| is_summed_in(&s.op, &later[*k].op)) {
                Some(k) => {
                    compute_in_branches(place, s, &mut later[k].op);
                    k
                }
                None => {
                    later.push(s);
                    later.len() - 1
                }
            };
            for a in used {
                let known = users.entry(a).or_insert(Some(user));
                *known = known.filter(|k| *k == user);
            }
        }
        later.reverse();
        b.stmts = later;
    }
}

/// The statements after a place that use an array: the position of the only one, or `None` if there are several, or it is a result.
type Users = BTreeMap<ArrayId, Option<usize>>;

/// Adds a decision to the one before it if both have the same condition; otherwise returns it.
fn joined(before: &mut Op, s: Stmt) -> Option<Stmt> {
    match (before, s.op) {
        (Op::If { to, cond, then, otherwise }, Op::If { to: next, cond: same, then: yes, otherwise: no })
            if *cond == same =>
        {
            for (branch, mut more) in [(then, yes), (otherwise, no)] {
                let own: BTreeMap<_, _> = to.iter().copied().zip(branch.1.iter().copied()).collect();
                let own = Numbers::from(own);
                own.block(&mut more.0);
                own.arrays(&mut more.1);
                branch.0.stmts.append(&mut more.0.stmts);
                branch.1.append(&mut more.1);
            }
            to.extend(next);
            None
        }
        (_, op) => Some(Stmt { op, site: s.site }),
    }
}

/// The position of the statement that alone uses the matrices of a loop. The loop cannot fail (its checks are hoisted), so it may come
/// later.
fn only_user(op: &Op, users: &Users) -> Option<usize> {
    let Op::Loop { to, extents, body } = op else { return None };
    let is_plain = |i: &Instr| matches!(i, Instr::Extent(..));
    if extents.results.len() < 2 || body.can_fail() || body.has_loop() || !extents.instrs.iter().all(is_plain) {
        return None;
    }
    let mut all = to.iter().filter_map(|a| users.get(a));
    let first = (*all.next()?)?;
    all.all(|user| *user == Some(first)).then_some(first)
}

/// Whether both branches of a decision use the matrices of a loop, and one sums them. The condition does not.
fn is_summed_in(op: &Op, decision: &Op) -> bool {
    let Op::If { cond, then, otherwise, .. } = decision else { return false };
    let own = |used: &BTreeSet<ArrayId>| op.defines().iter().any(|a| used.contains(a));
    let mut deciding = BTreeSet::new();
    arrays_mentioned(&cond.instrs, &mut deciding);
    let users = |b: &Block| {
        b.stmts.iter().filter(|s| own(&used_arrays(s))).map(|s| matches!(s.op, Op::Reduce { .. })).collect()
    };
    let [yes, no]: [Vec<bool>; 2] = [then, otherwise].map(|b| users(&b.0));
    !own(&deciding) && !yes.is_empty() && !no.is_empty() && yes.into_iter().chain(no).any(|sums| sums)
}

/// The arrays that a statement and its blocks use.
fn used_arrays(s: &Stmt) -> BTreeSet<ArrayId> {
    let mut used = BTreeSet::new();
    s.op.used_arrays(&mut used);
    used
}

/// Moves the loop to the beginning of the first branch, and a copy of it, with new arrays, to that of the second one.
fn compute_in_branches(place: &mut Place, s: Stmt, decision: &mut Op) {
    let Op::If { then, otherwise, .. } = decision else { return };
    let mut copy = s.clone();
    let new = |a: &ArrayId| {
        let info = place.arrays[*a].clone();
        (*a, place.arrays.push(info))
    };
    let renamed = Numbers::from(s.op.defines().iter().map(new).collect::<BTreeMap<_, _>>());
    renamed.op(&mut copy.op);
    renamed.block(&mut otherwise.0);
    renamed.arrays(&mut otherwise.1);
    then.0.stmts.insert(0, s);
    otherwise.0.stmts.insert(0, copy);
}
