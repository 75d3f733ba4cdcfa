//! Lets updates of arrays in loops happen in place.
//!
//! NOTE [Updates in place]: a permutation copies its defaults, unless this is their last use: then it changes them in place. In a
//! loop that updates a few elements in each step, the copy would take nearly all of the time. It is avoidable if what the step
//! reads of the old array is read before the update. So, in loops,
//! - a permutation whose elements or targets read its defaults, or those of another one, gets them from loops before it;
//! - a permutation comes after the statements that read its defaults and do not need its result.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Block, Instr, Op, ScalarFn, SiteId, Stmt, walk};
use crate::optimize::rules::{Place, Rule};
use index_vec::IndexVec;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Arranges the statements of loops so that updates can happen in place.
pub(crate) struct InPlace;

impl Rule for InPlace {
    fn block(&mut self, place: &mut Place, b: &mut Block, _: &mut [ArrayId]) {
        if !place.in_loop || !b.stmts.iter().any(|s| matches!(s.op, Op::Permute { .. })) {
            return;
        }
        let changed = |s: &Stmt| if let Op::Permute { defaults, .. } = s.op { Some(defaults) } else { None };
        let changed: BTreeSet<ArrayId> = b.stmts.iter().filter_map(changed).collect();
        for s in std::mem::take(&mut b.stmts) {
            separate_reads(s, &changed, place.arrays, &mut b.stmts);
        }
        after_readers(&mut b.stmts);
    }
}

/// Adds a statement; before it, if it is a permutation that reads arrays which permutations change, the loops that read them.
fn separate_reads(
    mut s: Stmt,
    changed: &BTreeSet<ArrayId>,
    arrays: &mut IndexVec<ArrayId, ArrayInfo>,
    done: &mut Vec<Stmt>,
) {
    if let Op::Permute { extents, target, element, .. } = &mut s.op {
        for code in [target, element] {
            if walk(&code.instrs).any(|i| matches!(i, Instr::Read { array, .. } if changed.contains(array))) {
                let before = separate(code, extents.clone(), arrays, s.site);
                done.push(before);
            }
        }
    }
    done.push(s);
}

/// A loop that computes a function for all indices. The function then only reads its results.
fn separate(code: &mut ScalarFn, extents: ScalarFn, arrays: &mut IndexVec<ArrayId, ArrayInfo>, site: SiteId) -> Stmt {
    let columns = code.results.iter().map(|r| code.types[*r]).collect();
    let array = arrays.push(ArrayInfo { rank: code.params, columns });
    let mut b = Builder::new(&index_types(code.params));
    let to: Vec<_> = arrays[array].columns.iter().map(|t| b.reg(*t)).collect();
    b.emit(Instr::Read { to: to.clone(), array, index: b.params(), site, inside: true });
    let body = std::mem::replace(code, b.finish(to));
    Stmt { op: Op::Loop { to: vec![array], extents, body }, site }
}

/// Orders statements so that a permutation comes after all that use its defaults, apart from those that need its result.
/// Otherwise, they stay in their order.
fn after_readers(stmts: &mut Vec<Stmt>) {
    let mut place = BTreeMap::new();
    stmts.iter().enumerate().for_each(|(k, s)| place.extend(s.op.defines().iter().map(|a| (*a, k))));
    // For each statement those that must come after it.
    let mut after: Vec<Vec<usize>> = vec![vec![]; stmts.len()];
    let mut readers: BTreeMap<ArrayId, Vec<usize>> = BTreeMap::new();
    for (k, s) in stmts.iter().enumerate() {
        let mut used = BTreeSet::new();
        s.op.used_arrays(&mut used);
        for a in used {
            if let Some(before) = place.get(&a).filter(|before| **before != k) {
                after[*before].push(k);
            }
            readers.entry(a).or_default().push(k);
        }
    }
    for (k, s) in stmts.iter().enumerate() {
        let Op::Permute { defaults, .. } = s.op else { continue };
        let mut needs = vec![false; stmts.len()];
        let mut open = vec![k];
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut needs[next], true) {
                open.extend(&after[next]);
            }
        }
        let others = readers[&defaults].iter().filter(|reader| !needs[**reader]);
        others.for_each(|reader| after[*reader].push(k));
    }
    let mut waits = vec![0; stmts.len()];
    after.iter().flatten().for_each(|k| waits[*k] += 1);
    let mut ready: BinaryHeap<Reverse<usize>> = (0..stmts.len()).filter(|k| waits[*k] == 0).map(Reverse).collect();
    let mut left: Vec<Option<Stmt>> = std::mem::take(stmts).into_iter().map(Some).collect();
    while let Some(Reverse(k)) = ready.pop() {
        stmts.extend(left[k].take());
        for next in &after[k] {
            waits[*next] -= 1;
            if waits[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
}
