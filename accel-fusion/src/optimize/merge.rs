//! Horizontal fusion: loops over the same index space become one, so that what they read is read once.

use super::code::{Nothing, Times, clean};
use super::facts::Facts;
use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, Block, Code, Instr, Op, Program, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// Merges loops of equal extents, each into the first one that it can be moved up to.
pub fn merge(program: &Program) -> Program {
    let mut facts = Facts::new(program, false);
    let mut program = program.clone();
    let body = std::mem::take(&mut program.body);
    program.body = block(&mut facts, body);
    program
}

fn block(facts: &mut Facts, b: Block) -> Block {
    let mut merged: Vec<Stmt> = vec![];
    // Where each array of this block is defined.
    let mut defined: BTreeMap<ArrayId, usize> = BTreeMap::new();
    for mut s in b.stmts {
        s.op.blocks_mut().into_iter().for_each(|b| *b = block(facts, std::mem::take(b)));
        let place = match &s.op {
            Op::Loop { to, extents, body } if to.len() == 1 => find(&merged, &defined, extents, body),
            _ => None,
        };
        let to: Vec<ArrayId> = s.op.defines().to_vec();
        let at = place.unwrap_or(merged.len());
        match (place.and_then(|k| merged.get_mut(k)), s.op) {
            (Some(Stmt { op: Op::Loop { to, body, .. }, .. }), Op::Loop { to: more, body: other, .. }) => {
                to.extend(more);
                *body = both(facts, body, &other);
            }
            (_, op) => merged.push(Stmt { op, site: s.site }),
        }
        to.into_iter().for_each(|a| {
            defined.insert(a, at);
        });
    }
    Block { stmts: merged }
}

/// The first loop with these extents that comes after everything that the code needs.
fn find(merged: &[Stmt], defined: &BTreeMap<ArrayId, usize>, extents: &Code, body: &Code) -> Option<usize> {
    let mut needs = BTreeSet::new();
    mentioned(&extents.instrs, &mut needs);
    mentioned(&body.instrs, &mut needs);
    let first = needs.iter().filter_map(|a| defined.get(a)).max().map_or(0, |k| k + 1);
    let same = |s: &Stmt| matches!(&s.op, Op::Loop { extents: e, .. } if e == extents);
    (first..merged.len()).find(|k| same(&merged[*k]))
}

fn mentioned(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    for i in instrs {
        if let Instr::Read { array, .. } | Instr::Extent(_, array, _) = i {
            found.insert(*array);
        }
        i.inner().into_iter().for_each(|inner| mentioned(inner, found));
    }
}

/// The results of both codes.
fn both(facts: &mut Facts, a: &Code, b: &Code) -> Code {
    let mut out = Builder::new(&a.types[..a.params]);
    let params = out.params();
    let mut results = out.inline(a, &params);
    results.extend(out.inline(b, &params));
    let all = out.finish(results);
    let ranges: Vec<_> = (0..a.params).map(|_| facts.unknown()).collect();
    clean(facts, &Nothing, &all, &ranges, Times::Maybe).code
}
