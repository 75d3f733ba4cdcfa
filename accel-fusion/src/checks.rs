//! Checks of reads that need none.
//!
//! NOTE [Checked proofs]: generated code does not check a read that the optimiser has proved to be inside. Whoever does not want to believe
//! these proofs (`ACCEL_CHECK=1`) gets programs in which such reads are like all others: they are checked, by every backend in the way that
//! it always does it, also where they are from the memory of a strip. What tells them apart is their site, so that the error says that it was a
//! proof that was wrong. Kernels for special shapes, such as products of matrices, are for reads that need no check, so these
//! programs have none of them, and they are slow: it is proofs that they test.
//! Writes need none of this. A loop writes at its own index, a permutation checks its targets always, and one that became
//! a gather writes at its own index and reads what is checked here.

use crate::kernel::{Block, Instr, Program, Site, SiteId};
use accel_core::ast::deep;
use std::collections::BTreeMap;

/// The program in which all reads are checked.
pub fn checked(program: &Program) -> Program {
    let mut program = program.clone();
    let mut sites = Sites { all: std::mem::take(&mut program.sites), proved: BTreeMap::new() };
    sites.block(&mut program.body);
    Program { sites: sites.all, ..program }
}

struct Sites {
    all: Vec<Site>,
    /// The sites that proved reads of these get.
    proved: BTreeMap<SiteId, SiteId>,
}

impl Sites {
    fn block(&mut self, b: &mut Block) {
        for s in &mut b.stmts {
            s.op.codes_mut().into_iter().for_each(|c| self.instrs(&mut c.instrs));
            deep(|| s.op.blocks_mut().into_iter().for_each(|b| self.block(b)));
        }
    }

    fn instrs(&mut self, instrs: &mut [Instr]) {
        for i in instrs {
            match i {
                Instr::Read { site, inside, index, .. } if *inside && !index.is_empty() => {
                    *inside = false;
                    *site = self.proved(*site);
                }
                Instr::If { then: a, otherwise: b, .. } | Instr::While { cond: a, body: b, .. } => {
                    deep(|| [a, b].into_iter().for_each(|inner| self.instrs(inner)));
                }
                Instr::Read { .. } | Instr::Const(..) | Instr::Op1(..) | Instr::Op2(..) | Instr::Extent(..) => {}
            }
        }
    }

    fn proved(&mut self, site: SiteId) -> SiteId {
        *self.proved.entry(site).or_insert_with(|| {
            self.all.push(Site { proved: true, ..self.all[site] });
            self.all.len() - 1
        })
    }
}
