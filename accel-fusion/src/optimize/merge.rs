//! Horizontal fusion: loops over the same index space become one, so that what they read is read once. So do a loop and one that reads what
//! it computes at the same index.

use super::code::{Producers, Times, Use, clean};
use super::facts::Facts;
use crate::kernel::builder::Builder;
use crate::kernel::only::only;
use crate::kernel::{ArrayId, Block, Code, Instr, Op, Program, Reg, Stmt, arrays_mentioned, has_loop, walk};
use accel_core::ast::deep;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Merges loops of equal extents, each into the first one that it can be moved up to.
pub fn merge(program: &Program) -> Program {
    let mut facts = Facts::new(program, false);
    let mut program = program.clone();
    let body = std::mem::take(&mut program.body);
    program.body = block(&mut facts, body);
    let mut needed: BTreeSet<ArrayId> = program.results.iter().copied().collect();
    program.body.stmts.iter().for_each(|s| s.op.used_arrays(&mut needed));
    drop_outputs(&mut program.body, &needed, &facts);
    program
}

/// Loops do not store what was only read by loops that have been merged into them.
fn drop_outputs(b: &mut Block, needed: &BTreeSet<ArrayId>, facts: &Facts) {
    for s in &mut b.stmts {
        s.op.blocks_mut().into_iter().for_each(|b| deep(|| drop_outputs(b, needed, facts)));
        let Op::Loop { to, body, .. } = &mut s.op else { continue };
        let mut results = body.results.iter().copied();
        let mut kept = vec![];
        for a in to.iter() {
            let columns: Vec<_> = results.by_ref().take(facts.columns(*a)).collect();
            kept.extend(if needed.contains(a) { columns } else { vec![] });
        }
        to.retain(|a| needed.contains(a));
        *body = only(body, kept);
    }
}

/// Loops that become one: what each defines, and its code.
type Members = Vec<(Vec<ArrayId>, Code)>;

/// Where the loops of a block are that others can be merged into: by their extents, in order. Loops with loops inside are not among them.
type Places = HashMap<String, Vec<usize>>;

fn block(facts: &mut Facts, mut b: Block) -> Block {
    let mut merged: Vec<(Stmt, Members)> = vec![];
    // Where each array of this block is defined.
    let mut defined: BTreeMap<ArrayId, usize> = BTreeMap::new();
    let mut places = Places::new();
    for mut s in std::mem::take(&mut b.stmts) {
        s.op.blocks_mut().into_iter().for_each(|b| *b = deep(|| block(facts, std::mem::take(b))));
        let mut at = merged.len();
        if let Op::Loop { to, extents, body } = &s.op {
            let same = places.entry(format!("{extents:?}")).or_default();
            let first = first_place(&defined, extents, body);
            let place = same.partition_point(|k| *k < first);
            at = same.get(place).copied().unwrap_or(at);
            to.iter().for_each(|a| _ = defined.insert(*a, at));
            match has_loop(&body.instrs) {
                false if at == merged.len() => same.push(at),
                true if at < merged.len() => _ = same.remove(place),
                _ => {}
            }
        } else {
            s.op.defines().iter().for_each(|a| _ = defined.insert(*a, at));
        }
        match (merged.get_mut(at), s.op) {
            (Some((_, members)), Op::Loop { to, body, .. }) => members.push((to, body)),
            (_, op) => merged.push((Stmt { op, site: s.site }, vec![])),
        }
    }
    let stmts = merged.into_iter().map(|(mut s, members)| {
        if let (Op::Loop { to, body, .. }, false) = (&mut s.op, members.is_empty()) {
            let first = (std::mem::take(to), std::mem::take(body));
            let all: Members = [first].into_iter().chain(members).collect();
            *body = together(facts, &all);
            *to = all.into_iter().flat_map(|m| m.0).collect();
        }
        s
    });
    Block { stmts: stmts.collect() }
}

/// The first place of a loop with these extents and this code that comes after everything that it needs, or where a loop may be that computes
/// what it reads at its own index.
fn first_place(defined: &BTreeMap<ArrayId, usize>, extents: &Code, body: &Code) -> usize {
    let mut needs = BTreeSet::new();
    arrays_mentioned(&extents.instrs, &mut needs);
    let mut elsewhere = BTreeSet::new();
    read_elsewhere(&body.instrs, body.params, &mut elsewhere);
    let after = |needs: &BTreeSet<ArrayId>| needs.iter().filter_map(|a| defined.get(a)).max().map_or(0, |k| k + 1);
    let first = after(&needs.union(&elsewhere).copied().collect());
    arrays_mentioned(&body.instrs, &mut needs);
    // The last statement that it needs may be the loop itself.
    after(&needs).saturating_sub(1).max(first)
}

/// The arrays of which other elements than that at the index are read, or extents asked for.
fn read_elsewhere(instrs: &[Instr], params: usize, found: &mut BTreeSet<ArrayId>) {
    found.extend(walk(instrs).filter_map(|i| match i {
        Instr::Read { index, inside: true, .. } if index.iter().copied().eq(0..params) => None,
        Instr::Read { array, .. } | Instr::Extent(_, array, _) => Some(*array),
        _ => None,
    }));
}

/// The results of all codes; what a later one reads of the arrays that an earlier one computes is in registers.
fn together(facts: &mut Facts, members: &Members) -> Code {
    let params = members[0].1.params;
    let mut out = Builder::new(&members[0].1.types[..params]);
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
    clean(facts, &Elements(elements), &all, &ranges, Times::Maybe).code
}

/// The elements of arrays, in registers of the code.
struct Elements(BTreeMap<ArrayId, Vec<Reg>>);

impl Producers for Elements {
    fn alias(&self, a: ArrayId) -> ArrayId {
        a
    }
    fn inlined(&self, _: Use) -> Option<&Code> {
        None
    }
    fn element(&self, a: ArrayId) -> Option<&[Reg]> {
        self.0.get(&a).map(Vec::as_slice)
    }
}
