//! A program in which reads with a proof of bounds are checked all the same.
//!
//! NOTE [Checked proofs]: generated code does not check a read that is marked `inside`, because the optimiser has
//! proved that its index is within bounds. With `ACCEL_CHECK=1`, the proofs themselves are tested: such reads lose the
//! mark, so every backend checks them as it checks all other reads, also reads from the memory of a strip. Their sites
//! are marked `proved`, so that the error says that a proof was wrong. Kernels for special shapes, such as matrix
//! products, only handle reads without checks. So programs with checked proofs do not use these kernels, and they are
//! slow: they test the proofs, not the kernels. So do targets of permutations that are marked. Other writes need no such test: a
//! loop writes at its own index, also one that was a scatter, and its reads are checked here.

use crate::kernel::{Instr, Op, Program, Site, SiteId, walk_mut};
use std::collections::BTreeMap;

/// Makes all reads of the program checked.
pub fn checked(program: &Program) -> Program {
    let mut program = program.clone();
    let sites = &mut program.sites;
    // For each site, the site marked `proved` that takes its place in reads marked `inside`.
    let mut proved = BTreeMap::new();
    let mut check = |site: &mut SiteId, inside: &mut bool| {
        if std::mem::take(inside) {
            let own = *site;
            *site = *proved.entry(own).or_insert_with(|| sites.push(Site { proved: true, ..sites[own] }));
        }
    };
    program.body.walk_mut(|s| {
        if let Op::Permute { inside, .. } = &mut s.op {
            check(&mut s.site, inside);
        }
        for code in s.op.scalar_fns_mut() {
            walk_mut(&mut code.instrs, |i| match i {
                Instr::Read { site, inside, index, .. } | Instr::Emit { site, inside, index, .. }
                    if !index.is_empty() =>
                {
                    check(site, inside);
                }
                _ => {}
            });
        }
    });
    program
}
