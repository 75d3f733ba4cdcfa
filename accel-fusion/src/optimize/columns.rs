//! Arrays of tuples become arrays of their columns, so that each column can be fused, or dropped, by itself.

use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, ArrayInfo, Block, Code, Instr, Op, Program, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// Splits the loops that define several columns, where only elements of the arrays are asked for.
pub fn split(program: &Program) -> Program {
    let mut whole: BTreeSet<ArrayId> = program.results.iter().copied().collect();
    used_as_whole(&program.body, &mut whole);
    let mut s = Splitter { program: program.clone(), whole, columns: BTreeMap::new() };
    s.program.body = s.block(&program.body);
    s.program
}

/// The arrays that are used otherwise than by reading elements and extents.
fn used_as_whole(b: &Block, found: &mut BTreeSet<ArrayId>) {
    for s in &b.stmts {
        match &s.op {
            Op::Permute { defaults, .. } => found.extend([*defaults]),
            Op::Reshape { from, .. } => found.extend([*from]),
            Op::If { then, otherwise, .. } => found.extend(then.1.iter().chain(&otherwise.1)),
            Op::While { init, cond, body, .. } => {
                found.extend(init.iter().chain(&body.1));
                found.insert(cond.1);
            }
            _ => {}
        }
        s.op.blocks().into_iter().for_each(|b| used_as_whole(b, found));
    }
}

struct Splitter {
    program: Program,
    whole: BTreeSet<ArrayId>,
    /// The columns of the arrays that have been split.
    columns: BTreeMap<ArrayId, Vec<ArrayId>>,
}

impl Splitter {
    fn block(&mut self, b: &Block) -> Block {
        let mut stmts = vec![];
        for s in &b.stmts {
            self.stmt(s, &mut stmts);
        }
        Block { stmts }
    }

    fn stmt(&mut self, s: &Stmt, out: &mut Vec<Stmt>) {
        let mut op = s.op.clone();
        op.codes_mut().into_iter().for_each(|c| self.code(c));
        op.blocks_mut().into_iter().for_each(|b| *b = self.block(b));
        let Op::Loop { to, extents, body } = op else { return out.push(Stmt { op, site: s.site }) };
        let mut next = 0;
        for a in to {
            let info = self.program.arrays[a].clone();
            let results = body.results[next..next + info.columns.len()].to_vec();
            next += info.columns.len();
            if self.whole.contains(&a) || info.columns.len() == 1 {
                out.push(loop_(vec![a], &extents, &body, results, s.site));
                continue;
            }
            let columns: Vec<ArrayId> = info
                .columns
                .iter()
                .map(|t| {
                    self.program.arrays.push(ArrayInfo { rank: info.rank, columns: vec![*t] });
                    self.program.arrays.len() - 1
                })
                .collect();
            for (c, r) in columns.iter().zip(results) {
                out.push(loop_(vec![*c], &extents, &body, vec![r], s.site));
            }
            self.columns.insert(a, columns);
        }
    }

    fn code(&self, code: &mut Code) {
        let mut instrs = std::mem::take(&mut code.instrs);
        self.instrs(&mut instrs);
        code.instrs = instrs;
    }

    fn instrs(&self, instrs: &mut Vec<Instr>) {
        for mut i in std::mem::take(instrs) {
            match &mut i {
                Instr::Read { to, array, index, site, inside } => {
                    if let Some(columns) = self.columns.get(array) {
                        instrs.extend(to.iter().zip(columns).map(|(to, c)| Instr::Read {
                            to: vec![*to],
                            array: *c,
                            index: index.clone(),
                            site: *site,
                            inside: *inside,
                        }));
                        continue;
                    }
                }
                Instr::Extent(_, a, _) => {
                    if let Some([c, ..]) = self.columns.get(a).map(Vec::as_slice) {
                        *a = *c;
                    }
                }
                Instr::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|b| self.instrs(b)),
                Instr::While { cond, body, .. } => [cond, body].into_iter().for_each(|b| self.instrs(b)),
                _ => {}
            }
            instrs.push(i);
        }
    }
}

fn loop_(to: Vec<ArrayId>, extents: &Code, body: &Code, results: Vec<usize>, site: usize) -> Stmt {
    let mut b = Builder::new(&body.types[..body.params]);
    let params = b.params();
    let all = Code { results, ..body.clone() };
    let results = b.inline(&all, &params);
    let mut body = b.finish(results);
    super::code::drop_unused(&mut body);
    Stmt { op: Op::Loop { to, extents: extents.clone(), body }, site }
}
