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
        for s in std::mem::take(&mut b.stmts) {
            let rest = match b.stmts.last_mut() {
                Some(last) => joined(&mut last.op, s),
                None => Some(s),
            };
            b.stmts.extend(rest);
        }
        // What is computed in branches can leave the only uses of another array there.
        for k in (0..b.stmts.len()).rev() {
            let mut later = b.stmts.split_off(k + 1);
            if let Some(user) = only_decision(&b.stmts[k].op, &later, results) {
                let s = b.stmts.remove(k);
                compute_in_branches(place, s, &mut later[user].op);
            }
            b.stmts.append(&mut later);
        }
    }
}

/// Adds a decision to the one before it if both have the same condition; otherwise returns it.
fn joined(before: &mut Op, s: Stmt) -> Option<Stmt> {
    let Op::If { to, cond, then, otherwise } = before else { return Some(s) };
    let Stmt { op: Op::If { to: next, cond: same, then: yes, otherwise: no }, site } = s else { return Some(s) };
    if *cond != same {
        return Some(Stmt { op: Op::If { to: next, cond: same, then: yes, otherwise: no }, site });
    }
    for (branch, mut more) in [(then, yes), (otherwise, no)] {
        let own: BTreeMap<_, _> = to.iter().copied().zip(branch.1.iter().copied()).collect();
        let own = Numbers::from(own);
        own.block(&mut more.0);
        more.1.iter_mut().for_each(|a| own.array(a));
        branch.0.stmts.append(&mut more.0.stmts);
        branch.1.append(&mut more.1);
    }
    to.extend(next);
    None
}

/// The decision that alone uses the matrix of a loop, in both branches, and sums it in one. The loop cannot fail (its checks are
/// hoisted), so it may come later.
fn only_decision(op: &Op, later: &[Stmt], results: &[ArrayId]) -> Option<usize> {
    let Op::Loop { to, extents, body } = op else { return None };
    let is_plain = |i: &Instr| matches!(i, Instr::Extent(..));
    if extents.results.len() < 2 || body.can_fail() || body.has_loop() || !extents.instrs.iter().all(is_plain) {
        return None;
    }
    let own = |used: &BTreeSet<ArrayId>| to.iter().any(|a| used.contains(a));
    let uses = |s: &Stmt| {
        let mut used = BTreeSet::new();
        s.op.used_arrays(&mut used);
        own(&used)
    };
    let mut users = later.iter().enumerate().filter(|(_, s)| uses(s));
    let (user, decision) = users.next()?;
    let Op::If { cond, then, otherwise, .. } = &decision.op else { return None };
    let mut deciding: BTreeSet<_> = results.iter().copied().collect();
    arrays_mentioned(&cond.instrs, &mut deciding);
    let sums = |b: &Block| b.stmts.iter().any(|s| matches!(s.op, Op::Reduce { .. }) && uses(s));
    let in_both = [then, otherwise].iter().all(|b| b.0.stmts.iter().any(uses));
    let is_wanted = in_both && (sums(&then.0) || sums(&otherwise.0));
    (users.next().is_none() && !own(&deciding) && is_wanted).then_some(user)
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
    otherwise.1.iter_mut().for_each(|a| renamed.array(a));
    then.0.stmts.insert(0, s);
    otherwise.0.stmts.insert(0, copy);
}
