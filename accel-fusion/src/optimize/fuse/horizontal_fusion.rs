//! Horizontal fusion: merges loops over the same index space, so that their common inputs are read once. It also merges
//! a loop with a loop that reads its results at the same index.

use crate::kernel::builder::Builder;
use crate::kernel::dead_code::drop_dead_statements;
use crate::kernel::{ArrayId, Block, Instr, Op, Program, Reg, ScalarFn, Stmt, arrays_mentioned, walk};
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::rules::{Place, Rule, rewrite};
use crate::optimize::scalar::scalar_cleanup::{ArrayUse, ExecutionCount, Producers, clean};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A loop of more arrays gets no further ones. Their addresses and extents are all in use in each step, far more than a processor has
/// registers, so a longer loop saves hardly any loads, and the time of C compilers grows with the square of their number: a loop of
/// 256 arrays whose steps read their neighbours takes 3.7 s, four such loops of 64 arrays together 1.9 s. Chosen.
const ARRAYS: usize = 128;

/// Merges loops of equal extents. Each is merged into the first loop up to which it can be moved.
pub fn merge(program: &Program) -> Program {
    let mut merged = rewrite(program, &mut Merge(Facts::new(program, false)));
    // What only other parts of the same loop read need not be stored.
    drop_dead_statements(&mut merged);
    merged
}

/// `a = loop f; b = loop g` is `a, b = loop f, g`.
struct Merge(Facts);

/// The loops of a merged loop: the arrays that each defines, and its body.
type MergedLoops = Vec<(Vec<ArrayId>, ScalarFn)>;

/// The positions in the block of those loops that others can be merged into: by their extents, in order. Loops that
/// contain loops are excluded, and so are those of more than [`ARRAYS`] arrays.
type LoopPositions = HashMap<String, Vec<usize>>;

impl Rule for Merge {
    fn block(&mut self, _: &mut Place, b: &mut Block, _: &mut [ArrayId]) {
        let mut merged: Vec<(Stmt, MergedLoops)> = vec![];
        // The position in the block where each array is defined.
        let mut defined: BTreeMap<ArrayId, usize> = BTreeMap::new();
        let mut places = LoopPositions::new();
        // The arrays of the loop at each position.
        let mut arrays: BTreeMap<usize, BTreeSet<ArrayId>> = BTreeMap::new();
        for s in std::mem::take(&mut b.stmts) {
            let mut at = merged.len();
            if let Op::Loop { to, extents, body } = &s.op {
                let same = places.entry(format!("{extents:?}")).or_default();
                let first = first_place(&defined, extents, body);
                let place = same.partition_point(|k| *k < first);
                at = same.get(place).copied().unwrap_or(at);
                to.iter().for_each(|a| _ = defined.insert(*a, at));
                let all = arrays.entry(at).or_default();
                all.extend(to);
                arrays_mentioned(&body.instrs, all);
                match body.has_loop() || all.len() > ARRAYS {
                    false if at == merged.len() => same.push(at),
                    true if at < merged.len() => _ = same.remove(place),
                    _ => {}
                }
            } else {
                s.op.defines().iter().for_each(|a| _ = defined.insert(*a, at));
                // NOTE [Extents that were compared]
                if s.op.compares_extents() {
                    places.clear();
                }
            }
            match (merged.get_mut(at), s.op) {
                (Some((_, members)), Op::Loop { to, body, .. }) => members.push((to, body)),
                (_, op) => merged.push((Stmt { op, site: s.site }, vec![])),
            }
        }
        let stmts = merged.into_iter().map(|(mut s, members)| {
            if let (Op::Loop { to, body, .. }, false) = (&mut s.op, members.is_empty()) {
                let first = (std::mem::take(to), std::mem::take(body));
                let all: MergedLoops = [first].into_iter().chain(members).collect();
                *body = merged_body(&mut self.0, &all);
                *to = all.into_iter().flat_map(|m| m.0).collect();
            }
            s
        });
        b.stmts = stmts.collect();
    }
}

/// The first position of a loop with these extents and this body: after everything that it needs, or in the loop that
/// computes what it reads at its own index.
fn first_place(defined: &BTreeMap<ArrayId, usize>, extents: &ScalarFn, body: &ScalarFn) -> usize {
    let mut needs = BTreeSet::new();
    arrays_mentioned(&extents.instrs, &mut needs);
    let mut elsewhere = BTreeSet::new();
    read_elsewhere(&body.instrs, body.params, &mut elsewhere);
    let after = |needs: &BTreeSet<ArrayId>| needs.iter().filter_map(|a| defined.get(a)).max().map_or(0, |k| k + 1);
    let first = after(&needs.union(&elsewhere).copied().collect());
    arrays_mentioned(&body.instrs, &mut needs);
    // The last statement that it needs can be the loop to merge with.
    after(&needs).saturating_sub(1).max(first)
}

/// Adds the arrays of which the instructions read the extents, or elements other than that at the index.
fn read_elsewhere(instrs: &[Instr], params: usize, found: &mut BTreeSet<ArrayId>) {
    found.extend(walk(instrs).filter_map(|i| match i {
        Instr::Read { index, inside: true, .. } if index.iter().copied().eq((0..params).map(Reg::new)) => None,
        Instr::Read { array, .. } | Instr::Extent(_, array, _) => Some(*array),
        _ => None,
    }));
}

/// The merged body, with the results of all members. Where a later member reads what an earlier one computes, it uses
/// the registers instead.
fn merged_body(facts: &mut Facts, members: &MergedLoops) -> ScalarFn {
    let params = members[0].1.params;
    let mut out = Builder::new(members[0].1.param_types());
    let args = out.params();
    let (mut results, mut elements) = (vec![], BTreeMap::new());
    for (to, code) in members {
        let found = out.inline(code, &args);
        let mut columns = found.iter().copied();
        elements.extend(to.iter().map(|a| (*a, columns.by_ref().take(facts.columns(*a)).collect())));
        results.extend(found);
    }
    let all = out.finish(results);
    let ranges: Vec<_> = (0..params).map(|_| facts.unknown()).collect();
    clean(facts, &Elements(elements), &all, &ranges, ExecutionCount::Maybe).code
}

/// The elements of the arrays defined so far, in registers of the merged body.
struct Elements(BTreeMap<ArrayId, Vec<Reg>>);

impl Producers for Elements {
    fn alias(&self, a: ArrayId) -> ArrayId {
        a
    }
    fn inlined(&self, _: ArrayUse) -> Option<&ScalarFn> {
        None
    }
    fn element(&self, a: ArrayId) -> Option<&[Reg]> {
        self.0.get(&a).map(Vec::as_slice)
    }
}
