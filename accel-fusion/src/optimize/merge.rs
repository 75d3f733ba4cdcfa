//! Horizontal fusion: loops over the same index space become one, so that what they read is read once. So do a loop and one that reads what
//! it computes at the same index.

use super::code::{Producers, Times, Use, clean};
use super::facts::Facts;
use crate::kernel::builder::Builder;
use crate::kernel::only::only;
use crate::kernel::{ArrayId, Block, Code, Instr, Op, Program, Stmt, arrays_mentioned, has_loop};
use std::collections::{BTreeMap, BTreeSet};

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
        s.op.blocks_mut().into_iter().for_each(|b| drop_outputs(b, needed, facts));
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

fn block(facts: &mut Facts, mut b: Block) -> Block {
    let mut merged: Vec<Stmt> = vec![];
    // Where each array of this block is defined.
    let mut defined: BTreeMap<ArrayId, usize> = BTreeMap::new();
    for mut s in std::mem::take(&mut b.stmts) {
        s.op.blocks_mut().into_iter().for_each(|b| *b = block(facts, std::mem::take(b)));
        let place = match &s.op {
            Op::Loop { extents, body, .. } => find(&merged, &defined, extents, body),
            _ => None,
        };
        let to: Vec<ArrayId> = s.op.defines().to_vec();
        let at = place.unwrap_or(merged.len());
        match (place.and_then(|k| merged.get_mut(k)), s.op) {
            (Some(Stmt { op: Op::Loop { to, body, .. }, .. }), Op::Loop { to: more, body: other, .. }) => {
                *body = both(facts, to, body, &other);
                to.extend(more);
            }
            (_, op) => merged.push(Stmt { op, site: s.site }),
        }
        to.into_iter().for_each(|a| {
            defined.insert(a, at);
        });
    }
    Block { stmts: merged }
}

/// The first loop with these extents that comes after everything that the code needs, or computes what it reads at its own index.
fn find(merged: &[Stmt], defined: &BTreeMap<ArrayId, usize>, extents: &Code, body: &Code) -> Option<usize> {
    let mut needs = BTreeSet::new();
    arrays_mentioned(&extents.instrs, &mut needs);
    let mut elsewhere = BTreeSet::new();
    read_elsewhere(&body.instrs, body.params, &mut elsewhere);
    let after = |needs: &BTreeSet<ArrayId>| needs.iter().filter_map(|a| defined.get(a)).max().map_or(0, |k| k + 1);
    let first = after(&needs.union(&elsewhere).copied().collect());
    arrays_mentioned(&body.instrs, &mut needs);
    // The last statement that it needs may be the loop itself.
    let last = after(&needs).saturating_sub(1).max(first);
    let same = |s: &Stmt| match &s.op {
        Op::Loop { extents: e, body, .. } => e == extents && !has_loop(&body.instrs),
        _ => false,
    };
    (last..merged.len()).find(|k| same(&merged[*k]))
}

/// The arrays of which other elements than that at the index are read, or extents asked for.
fn read_elsewhere(instrs: &[Instr], params: usize, found: &mut BTreeSet<ArrayId>) {
    for i in instrs {
        match i {
            Instr::Read { index, inside: true, .. } if index.iter().copied().eq(0..params) => {}
            Instr::Read { array, .. } | Instr::Extent(_, array, _) => {
                found.insert(*array);
            }
            _ => {}
        }
        i.inner().into_iter().for_each(|inner| read_elsewhere(inner, params, found));
    }
}

/// The results of both codes; what the second one reads of the arrays `to` that the first one computes is in registers.
fn both(facts: &mut Facts, to: &[ArrayId], a: &Code, b: &Code) -> Code {
    let mut next = 0;
    let mut elements = BTreeMap::new();
    for array in to {
        let columns = facts.columns(*array);
        elements.insert(*array, only(a, a.results[next..next + columns].to_vec()));
        next += columns;
    }
    let mut out = Builder::new(&a.types[..a.params]);
    let params = out.params();
    let mut results = out.inline(a, &params);
    results.extend(out.inline(b, &params));
    let all = out.finish(results);
    let ranges: Vec<_> = (0..a.params).map(|_| facts.unknown()).collect();
    // Their code is that of the first one: it is computed once.
    clean(facts, &Elements(elements), &all, &ranges, Times::Maybe).code
}

/// The elements of arrays, as code.
struct Elements(BTreeMap<ArrayId, Code>);

impl Producers for Elements {
    fn alias(&self, a: ArrayId) -> ArrayId {
        a
    }
    fn inlined(&self, u: Use) -> Option<&Code> {
        self.0.get(&u.array)
    }
}
