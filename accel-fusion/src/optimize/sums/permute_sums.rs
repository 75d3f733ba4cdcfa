//! Sums of permutations: adds the elements where they belong.
//!
//! NOTE [Sums of permutations]: `x + permute (+) zeros a + permute (+) zeros b = permute (+) (permute (+) x a) b`. The left
//! side fills two arrays with zeros, and reads both again; the right side only adds the elements of `a` and `b`, in the
//! memory of `x` if nothing else uses it. Such sums are the adjoint of an array that is read in several places: each place
//! contributes to a few elements. In a loop, `x` is the adjoint so far.
//!
//! NOTE [Arrays keep their values]: the permutes of the right side are new statements that define new arrays. An array never
//! gets another value than that of its definition in the program before the round, whoever else reads it. Counts of readers
//! decide what pays, never what is right: those of the round before miss the readers that this round makes, when it puts a
//! producer into several consumers, and those of this round miss the readers that follow. (The first form of this rule changed
//! the initial elements of the permutes where they stood, because the round before had counted one reader. In a chain of
//! Runge-Kutta stages, the sum of two of them had meanwhile moved into two sums, so the second one added up partial sums that
//! contained the first: its gradient counted terms twice.)

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::contraction::summands;
use crate::kernel::dead_code::{defined, restricted_to};
use crate::kernel::{ArrayId, Instr, Monoid, Op, Reg, ScalarFn, SiteId, Stmt, arrays_read};
use crate::optimize::fuse::fused_program::Pass;
use crate::optimize::scalar::scalar_cleanup::code_of;
use accel_core::repr::op::{Num2, Op2};
use std::collections::BTreeSet;

/// If the last statement is a loop that adds permutations that only it seems to read, new ones follow them: each adds to the
/// one before, and the first one to the other summand, if there is only one. If nothing is left to add, the
/// loop goes. The statements stay in their order, behind the other summand. The old ones go as dead code. Returns whether it was
/// such a loop.
pub fn sum_of_permutations(pass: &mut Pass) -> bool {
    if let Some(Stmt { op: Op::Loop { to, body, .. }, site }) = pass.open.last().and_then(|(_, open)| open.last())
        && let ([to], [result]) = (&to[..], &body.results[..])
        && matches!(defined(body, *result), Some(Instr::Op2(_, Op2::Num(Num2::Add), ..)))
    {
        let (to, result, code, site) = (*to, *result, body.clone(), *site);
        return add_in_place(pass, to, &code, result, site);
    }
    false
}

fn add_in_place(pass: &mut Pass, to: ArrayId, code: &ScalarFn, result: Reg, site: SiteId) -> bool {
    let dims = pass.facts.dims(to);
    let summands = summands(code, result);
    let whole = |pass: &Pass, r: Reg| whole_array(code, r).filter(|a| pass.facts.dims(*a) == dims);
    let mut places: Vec<(usize, Reg)> =
        summands.iter().filter_map(|r| Some((pass.place_of_permutation(whole(pass, *r)?)?, *r))).collect();
    if places.is_empty() {
        return false;
    }
    places.sort_unstable();
    let is_permutation = |r: &Reg| places.iter().any(|(_, found)| found == r);
    let others: Vec<Reg> = summands.iter().copied().filter(|r| !is_permutation(r)).collect();
    let mut needed = BTreeSet::new();
    arrays_read(&restricted_to(code, others.clone()).instrs, &mut needed);
    let is_added_once = |r: Reg| {
        summands.iter().filter(|s| **s == r).count() == 1 && whole_array(code, r).is_none_or(|a| !needed.contains(&a))
    };
    let before = match others[..] {
        [r] => whole(pass, r),
        _ => None,
    };
    let first = before.and_then(|a| pass.place(a)).unwrap_or(0);
    if !places.iter().all(|p| is_added_once(p.1)) || places.len() + usize::from(before.is_some()) < 2 {
        return false;
    }
    let Some((block, mut open)) = pass.open.pop() else { return false };
    open.pop();
    let (mut last, mut added) = (before, vec![]);
    for (place, _) in &places {
        let Stmt { mut op, site } = open[*place].clone();
        if let Op::Permute { to, defaults, .. } = &mut op {
            *to = pass.array(pass.program.arrays[*to].clone(), dims.clone());
            *defaults = last.unwrap_or(*defaults);
            last = Some(*to);
            pass.block_of.insert(*to, block);
        }
        added.push((first.max(*place) + 1, Stmt { op, site }));
    }
    added.into_iter().rev().for_each(|(place, s)| open.insert(place, s));
    pass.open.push((block, open));
    let Some(last) = last else { return false };
    pass.known.producers.remove(&to);
    if others.is_empty() || before.is_some() {
        pass.known.aliases.insert(to, last);
        return true;
    }
    let mut b = Builder::new(&index_types(dims.len()));
    let index = b.params();
    let mut total = b.reg(code.types[result]);
    b.emit(Instr::Read { to: vec![total], array: last, index: index.clone(), site, inside: true });
    for x in b.inline(&restricted_to(code, others), &index) {
        let sum = b.reg(code.types[result]);
        b.emit(Instr::Op2(sum, Op2::Num(Num2::Add), total, x));
        total = sum;
    }
    let body = pass.clean(&b.finish(vec![total]), &dims).code;
    let extents = code_of(&mut pass.facts, &dims);
    pass.emit(Op::Loop { to: vec![to], extents, body }, site);
    true
}

/// The array of one column whose element at the index of the loop this is.
pub fn whole_array(code: &ScalarFn, r: Reg) -> Option<ArrayId> {
    match defined(code, r)? {
        Instr::Read { to, array, index, inside: true, .. }
            if to.len() == 1 && index.iter().copied().eq(code.param_regs()) =>
        {
            Some(*array)
        }
        _ => None,
    }
}

impl Pass<'_> {
    /// The place in this block of the statement that adds elements to an array of zeros, if it pays to replace the array: it
    /// was read once before this round and has been since, and it is used for nothing else.
    fn place_of_permutation(&self, a: ArrayId) -> Option<usize> {
        let once = Some(&(1, true));
        if self.known.before.places.get(&a) != once || self.places.get(&a) != Some(&(1, 1)) || self.whole.contains(&a) {
            return None;
        }
        let place = self.place(a)?;
        let Op::Permute { defaults, monoid: Some(Monoid::Sum), .. } = &self.open.last()?.1[place].op else {
            return None;
        };
        self.constants(*defaults)?.iter().all(|x| *x == x.ty().zero()).then_some(place)
    }
}
