//! Sums that loops add up.
//!
//! NOTE [Sums of loops]: `x + loop from zeros = loop from x`, for a component of a loop's state to which each step only adds. In a nest of
//! loops, this is the adjoint of an array that the inner loop reads: the left side fills an array with zeros and reads all of it in
//! each step of the outer loop, the right side adds in place.

use crate::kernel::dead_code::{defined, drop_outputs, restricted_to};
use crate::kernel::{
    ArrayId, ArrayInfo, Block, IndexVec, Instr, Monoid, Op, Program, Reg, ScalarFn, Stmt, Trips, walk,
};
use crate::optimize::layout::compact::Numbers;
use crate::optimize::loops::tapes::numbers::Definitions;
use crate::optimize::rules::{Place, Rule, rewrite};
use crate::optimize::sums::permute_sums::whole_array;
use accel_core::ast::deep;
use accel_core::repr::op::{Num2, Op2};
use std::collections::{BTreeMap, BTreeSet};

/// Lets loops add to what their sums are added to.
pub(crate) fn sums_of_loops(program: &Program) -> Program {
    if !program.body.walk().any(|s| matches!(s.op, Op::While { .. })) {
        return program.clone();
    }
    let zeros = program.body.walk().flat_map(|s| zeros(s, &program.arrays)).collect();
    rewrite(program, &mut SumsOfLoops { arrays: &program.arrays, definitions: Definitions::new(program), zeros })
}

struct SumsOfLoops<'a> {
    arrays: &'a IndexVec<ArrayId, ArrayInfo>,
    definitions: Definitions,
    /// Arrays of zeros.
    zeros: BTreeSet<ArrayId>,
}

/// The arrays of zeros that a statement defines.
fn zeros(s: &Stmt, arrays: &IndexVec<ArrayId, ArrayInfo>) -> Vec<ArrayId> {
    let Op::Loop { to, body, .. } = &s.op else { return vec![] };
    let is_zero = |r: &Reg| matches!(defined(body, *r), Some(Instr::Const(_, x)) if *x == x.ty().zero());
    let all = body.results_of(to, arrays).into_iter();
    all.filter(|(_, own)| own.iter().all(is_zero)).map(|(a, _)| a).collect()
}

/// How often statements read elements of an array, or use all of it. The results of this block do not count.
fn uses<'s>(stmts: impl IntoIterator<Item = &'s Stmt>, a: ArrayId) -> usize {
    let of_code =
        |code: &ScalarFn| walk(&code.instrs).filter(|i| matches!(i, Instr::Read { array, .. } if *array == a)).count();
    let of_statement = |s: &Stmt| {
        let mut whole: Vec<ArrayId> = vec![];
        s.op.arrays_used_whole(&mut whole);
        let read: usize = s.op.scalar_fns().iter().map(|(_, code)| of_code(code)).sum();
        read + whole.iter().filter(|w| **w == a).count()
    };
    let all = stmts.into_iter().flat_map(|s| [s].into_iter().chain(s.op.blocks().into_iter().flat_map(Block::walk)));
    all.map(of_statement).sum()
}

/// An array to which something is added: it, and the sum.
struct Sum {
    to: ArrayId,
    before: ArrayId,
    with: ArrayId,
}

impl Rule for SumsOfLoops<'_> {
    fn block(&mut self, _: &mut Place, b: &mut Block, results: &mut [ArrayId]) {
        for k in 0..b.stmts.len() {
            for sum in self.sums(&b.stmts[k]) {
                if let Some((at, component)) = self.summing_loop(b, k, results, &sum) {
                    if let Op::While { init, .. } = &mut b.stmts[at].op {
                        init[component] = sum.before;
                    }
                    drop_outputs(&mut b.stmts[k].op, self.arrays, |a| *a != sum.to);
                    let names = Numbers::from(BTreeMap::from([(sum.to, sum.with)]));
                    names.block(b);
                    names.arrays(results);
                }
            }
        }
        b.stmts.retain(|s| !matches!(&s.op, Op::Loop { to, .. } if to.is_empty()));
    }
}

impl SumsOfLoops<'_> {
    /// The results of a loop that are the sum of two arrays, in both orders.
    fn sums(&self, s: &Stmt) -> Vec<Sum> {
        let Op::Loop { to, body, .. } = &s.op else { return vec![] };
        let mut found = vec![];
        for (to, own) in body.results_of(to, self.arrays) {
            if let [r] = own
                && let Some(Instr::Op2(_, Op2::Num(Num2::Add), x, y)) = defined(body, *r)
                && let (Some(x), Some(y)) = (whole_array(body, *x), whole_array(body, *y))
            {
                found.push(Sum { to, before: x, with: y });
                found.push(Sum { to, before: y, with: x });
            }
        }
        found
    }

    /// The loop of the block, and the component of its state, that this sum of the statement at `k` adds to something that is known
    /// before the loop, if the loop can begin with it.
    fn summing_loop(&self, b: &Block, k: usize, results: &[ArrayId], sum: &Sum) -> Option<(usize, usize)> {
        let at = b.stmts[..k].iter().position(|s| s.op.defines().contains(&sum.with))?;
        let Op::While { to, init, trips, body, .. } = &b.stmts[at].op else { return None };
        let component = to[..init.len()].iter().position(|a| *a == sum.with)?;
        let first = init[component];
        let rank = self.arrays[first].rank;
        let fits = self.arrays[sum.before] == self.arrays[first]
            && self.zeros.contains(&first)
            && self.definitions.extents(sum.before, rank) == self.definitions.extents(first, rank)
            && !b.stmts[at..k].iter().any(|s| s.op.defines().contains(&sum.before))
            && uses(&b.stmts[at + 1..], sum.with) == 1
            && !results.contains(&sum.with)
            && self.sums(&b.stmts[k]).iter().any(|s| s.to == sum.to)
            && self.is_summed(trips, body, component, sum.with);
        fits.then_some((at, component))
    }

    /// Whether the steps of a loop only add to this component of the state.
    fn is_summed(&self, trips: &Trips, body: &(Block, Vec<ArrayId>), component: usize, state: ArrayId) -> bool {
        let next = body.1[component];
        let chain = self.chain(&body.0, next, state);
        // Each array of the chain is used by the next one only, and the last one is the next state.
        let once = |chain: Vec<ArrayId>| {
            let is_last = |a: &ArrayId| *a == next;
            let used = |a: &ArrayId| uses(&body.0.stmts, *a) + body.1.iter().filter(|r| *r == a).count();
            !matches!(trips, Trips::While(cond, _) if uses(&cond.stmts, state) > 0)
                && chain.iter().all(|a| used(a) == 1)
                && chain.iter().filter(|a| is_last(a)).count() == 1
        };
        chain.is_some_and(once)
    }

    /// The arrays that lead from the state to the next one, in the opposite order, if each adds to the one before.
    fn chain(&self, b: &Block, next: ArrayId, state: ArrayId) -> Option<Vec<ArrayId>> {
        let mut all = vec![next];
        while let Some(a) = all.last().copied().filter(|a| *a != state) {
            let s = b.stmts.iter().find(|s| s.op.defines().contains(&a))?;
            all.push(match &s.op {
                Op::Permute { defaults, monoid: Some(Monoid::Sum), .. } => *defaults,
                Op::Accumulate { sums, .. } => sums.iter().find(|(to, _)| *to == a)?.1,
                Op::While { to, init, trips, body, .. } => {
                    let component = to[..init.len()].iter().position(|to| *to == a)?;
                    deep(|| self.is_summed(trips, body, component, a)).then(|| init[component])?
                }
                Op::Loop { to, body, .. } => self.summand(to, body, a)?,
                _ => return None,
            });
        }
        Some(all)
    }

    /// The array to which a loop adds something else, as its result `a`. The loop does not use the element otherwise.
    fn summand(&self, to: &[ArrayId], body: &ScalarFn, a: ArrayId) -> Option<ArrayId> {
        let all = body.results_of(to, self.arrays);
        let (_, own) = all.iter().find(|(to, _)| *to == a)?;
        let [result] = own[..] else { return None };
        let Some(Instr::Op2(_, Op2::Num(Num2::Add), x, y)) = defined(body, result) else { return None };
        let others = body.results.iter().copied().filter(|r| *r != result);
        [(x, y), (y, x)].into_iter().find_map(|(x, y)| {
            let before = whole_array(body, *x)?;
            let rest = restricted_to(body, others.clone().chain([*y]).collect());
            let reads = |i: &Instr| matches!(i, Instr::Read { array, .. } if *array == before);
            (!walk(&rest.instrs).any(reads)).then_some(before)
        })
    }
}
