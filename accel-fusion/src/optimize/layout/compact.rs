//! Numbers the remaining arrays without gaps.

use crate::kernel::{ArrayId, Block, Instr, Op, Program, ScalarFn, SiteId, Stmt, Trips, walk_mut};
use std::collections::{BTreeMap, BTreeSet};

/// Renumbers the arrays in the order of their definitions: inputs first.
pub fn compact(program: &Program) -> Program {
    let mut c = Numbers::default();
    program.inputs.iter().for_each(|a| c.define(*a));
    c.define_all(&program.body);
    let mut body = program.body.clone();
    c.block(&mut body);
    let mut arrays: Vec<_> = c.numbers.iter().map(|(old, new)| (*new, program.arrays[*old].clone())).collect();
    arrays.sort_by_key(|(new, _)| *new);
    let mut inputs = program.inputs.clone();
    let mut results = program.results.clone();
    inputs.iter_mut().chain(&mut results).for_each(|a| c.array(a));
    Program { arrays: arrays.into_iter().map(|a| a.1).collect(), inputs, body, results, ..program.clone() }
}

/// A statement as a program of its own, without results.
pub struct Isolated {
    /// The program. Statements that differ only in their arrays and sites become equal programs.
    pub program: Program,
    /// For each of its arrays the array of the original program.
    pub arrays: Vec<ArrayId>,
    /// For each of its sites the site of the original program.
    pub sites: Vec<SiteId>,
}

/// A statement as a program of its own. Of its blocks, only those of strips belong to it.
pub fn isolated(program: &Program, stmt: &Stmt) -> Isolated {
    let mut body = Block { stmts: vec![stmt.clone()] };
    let mut c = Numbers::default();
    let (mut arrays, mut sites, mut defined) = (vec![], vec![], BTreeSet::new());
    let mut numbered = |site: &mut SiteId| {
        sites.push(*site);
        *site = SiteId::new(sites.len() - 1);
    };
    body.walk_mut(|s| {
        numbered(&mut s.site);
        let mut used = s.op.defines().to_vec();
        defined.extend(used.iter().copied());
        s.op.arrays_used_whole(&mut used);
        s.op.scalar_fns_mut().into_iter().for_each(|code| {
            walk_mut(&mut code.instrs, |i| match i {
                Instr::Extent(_, a, _) => used.push(*a),
                Instr::Read { array, site, .. } => {
                    used.push(*array);
                    numbered(site);
                }
                _ => {}
            });
        });
        for a in used {
            if !c.numbers.contains_key(&a) {
                c.define(a);
                arrays.push(a);
            }
        }
    });
    c.block(&mut body);
    let inputs = arrays.iter().enumerate().filter(|(_, a)| !defined.contains(a));
    let one = Program {
        arrays: arrays.iter().map(|a| program.arrays[*a].clone()).collect(),
        inputs: inputs.map(|(k, _)| ArrayId::new(k)).collect(),
        body,
        sites: sites.iter().map(|s| program.sites[*s]).collect(),
        ..Program::default()
    };
    Isolated { program: one, arrays, sites }
}

/// New numbers of arrays.
#[derive(Default)]
pub(crate) struct Numbers {
    numbers: BTreeMap<ArrayId, ArrayId>,
}

impl From<BTreeMap<ArrayId, ArrayId>> for Numbers {
    fn from(numbers: BTreeMap<ArrayId, ArrayId>) -> Self {
        Numbers { numbers }
    }
}

impl From<Numbers> for BTreeMap<ArrayId, ArrayId> {
    fn from(numbers: Numbers) -> Self {
        numbers.numbers
    }
}

impl Extend<(ArrayId, ArrayId)> for Numbers {
    fn extend<I: IntoIterator<Item = (ArrayId, ArrayId)>>(&mut self, numbers: I) {
        self.numbers.extend(numbers);
    }
}

impl Numbers {
    fn define(&mut self, a: ArrayId) {
        let next = ArrayId::new(self.numbers.len());
        self.numbers.entry(a).or_insert(next);
    }
    fn define_all(&mut self, b: &Block) {
        b.walk().flat_map(|s| s.op.defines()).for_each(|a| self.define(a));
    }
    /// An array without a new number keeps its own.
    pub(crate) fn array(&self, a: &mut ArrayId) {
        *a = self.numbers.get(a).copied().unwrap_or(*a);
    }
    /// The same for several arrays.
    pub(crate) fn arrays(&self, all: &mut [ArrayId]) {
        all.iter_mut().for_each(|a| self.array(a));
    }
    /// Gives all arrays in a block their new numbers.
    pub(crate) fn block(&self, b: &mut Block) {
        b.walk_mut(|s| self.op(&mut s.op));
    }
    /// Gives the arrays of an operation their new numbers, without those in its blocks.
    pub(crate) fn op(&self, op: &mut Op) {
        op.scalar_fns_mut().into_iter().for_each(|c| self.code(c));
        match op {
            Op::Agree { .. } => {}
            Op::Literal { to, .. } | Op::Reduce { to, .. } | Op::Scan { to, .. } => self.array(to),
            Op::Loop { to, .. } | Op::Strip { to, .. } => self.arrays(to),
            Op::Accumulate { to, sums, .. } => {
                self.arrays(to);
                sums.iter_mut().flat_map(|(sum, initial)| [sum, initial]).for_each(|a| self.array(a));
            }
            Op::Permute { to, defaults: from, .. } | Op::Reshape { to, from, .. } => {
                self.array(to);
                self.array(from);
            }
            Op::Argsort { to, keys, moved } => {
                self.arrays(to);
                moved.iter_mut().flatten().chain([keys]).for_each(|a| self.array(a));
            }
            Op::Foreign { to, from, .. } => [to, from].into_iter().for_each(|all| self.arrays(all)),
            Op::Keep { arrays, .. } => self.arrays(arrays),
            Op::Recall { to, step, .. } => [to, &mut step.1].into_iter().for_each(|all| self.arrays(all)),
            Op::If { to, then, otherwise, .. } => {
                [to, &mut then.1, &mut otherwise.1].into_iter().for_each(|all| self.arrays(all));
            }
            Op::While { to, init, trips, row, body } => {
                [to, init, &mut body.1].into_iter().for_each(|all| self.arrays(all));
                let (Trips::While(_, a) | Trips::Times(a, _)) = trips;
                row.iter_mut().chain([a]).for_each(|a| self.array(a));
            }
        }
    }
    fn code(&self, c: &mut ScalarFn) {
        walk_mut(&mut c.instrs, |i| {
            if let Instr::Extent(_, a, _) | Instr::Read { array: a, .. } | Instr::Emit { to: a, .. } = i {
                self.array(a);
            }
        });
    }
}
