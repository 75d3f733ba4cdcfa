//! A program in which reads with a proof of bounds are checked all the same.
//!
//! NOTE [Checked proofs]: generated code does not check a read that is marked `inside`, because the optimiser has
//! proved that its index is within bounds. With `ACCEL_CHECK=1`, the proofs themselves are tested: such reads lose the
//! mark, so every backend checks them as it checks all other reads, also reads from the memory of a strip. Their sites
//! are marked `proved`, so that the error says that a proof was wrong. Kernels for special shapes, such as matrix
//! products, only handle reads without checks. So programs with checked proofs do not use these kernels, and they are
//! slow: they test the proofs, not the kernels. So do targets of permutations that are marked. Other writes need no such test: a
//! loop writes at its own index, also one that was a scatter, and its reads are checked here.

use crate::kernel::{Block, IndexVec, Instr, Op, Program, Site, SiteId};
use accel_core::ast::deep;
use std::collections::BTreeMap;

/// Makes all reads of the program checked.
pub fn checked(program: &Program) -> Program {
    let mut program = program.clone();
    let mut sites = Sites { all: std::mem::take(&mut program.sites), proved: BTreeMap::new() };
    sites.block(&mut program.body);
    Program { sites: sites.all, ..program }
}

struct Sites {
    all: IndexVec<SiteId, Site>,
    /// For each site, the site marked `proved` that takes its place in reads marked `inside`.
    proved: BTreeMap<SiteId, SiteId>,
}

impl Sites {
    fn block(&mut self, b: &mut Block) {
        for s in &mut b.stmts {
            if let Op::Permute { inside: inside @ true, .. } = &mut s.op {
                *inside = false;
                s.site = self.proved(s.site);
            }
            s.op.scalar_fns_mut().into_iter().for_each(|c| self.instrs(&mut c.instrs));
            deep(|| s.op.blocks_mut().into_iter().for_each(|b| self.block(b)));
        }
    }

    fn instrs(&mut self, instrs: &mut [Instr]) {
        for i in instrs {
            match i {
                Instr::Read { site, inside, index, .. } | Instr::Emit { site, inside, index, .. }
                    if *inside && !index.is_empty() =>
                {
                    *inside = false;
                    *site = self.proved(*site);
                }
                Instr::If { then: a, otherwise: b, .. } | Instr::While { cond: a, body: b, .. } => {
                    deep(|| [a, b].into_iter().for_each(|inner| self.instrs(inner)));
                }
                Instr::Read { .. }
                | Instr::Emit { .. }
                | Instr::Const(..)
                | Instr::Op1(..)
                | Instr::Op2(..)
                | Instr::Extent(..)
                | Instr::Get { .. } => {}
            }
        }
    }

    fn proved(&mut self, site: SiteId) -> SiteId {
        *self.proved.entry(site).or_insert_with(|| {
            let proved = Site { proved: true, ..self.all[site] };
            self.all.push(proved)
        })
    }
}
