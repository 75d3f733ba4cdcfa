//! Loops of few steps over batches of small arrays, as statements.
//!
//! NOTE [Few steps over a batch]: an elimination of a batch of small matrices is a loop of as many steps as a matrix has rows, whose state is
//! the whole batch. Each step goes through memory. Written one after the other, all steps belong to a strip (NOTE [When strips pay] in
//! `strip`): they are executed for some matrices at a time, in a cache and on all cores, and what they decide by the number of the
//! step is decided here. A small state that is no batch stays a loop, in a frame.

use crate::kernel::{ArrayId, ArrayInfo, Block, Op, SiteId, Trips, walk};
use crate::optimize::facts::poly::Poly;
use crate::optimize::fuse::fused_program::Pass;
use crate::optimize::layout::compact::Numbers;
use crate::optimize::loops::tapes::single::{Code, single};
use accel_core::ast::{Dir, deep};
use accel_core::repr::ScalarType;
use std::collections::BTreeMap;

/// The largest number of statements of all steps: that of a strip.
const STATEMENTS: usize = 40;
/// The largest number of instructions of all steps, for which a C compiler takes a second. Chosen.
const INSTRUCTIONS: usize = 2000;
/// The largest number of elements that belong to a lane of the batch. A strip of larger ones does not fit into a cache. Chosen.
const LANE: i64 = 256;

/// A loop without lists.
pub struct Loop<'a> {
    pub to: &'a [ArrayId],
    pub init: &'a [ArrayId],
    pub trips: &'a Trips,
    pub row: Option<ArrayId>,
    pub body: &'a (Block, Vec<ArrayId>),
}

/// Replaces a loop of this number of steps by their statements, if its state is a batch of small arrays and these are few. Returns whether it does.
pub fn unrolled(pass: &mut Pass, l: &Loop, steps: Option<&Poly>, site: SiteId) -> bool {
    let (Some(n), Trips::Times(_, dir)) = (steps.and_then(Poly::as_constant), l.trips) else { return false };
    let simple = |op: &Op| {
        matches!(op, Op::Loop { .. } | Op::Reduce { .. } | Op::Permute { .. } | Op::Reshape { .. } | Op::Literal { .. })
    };
    let stmts = &l.body.0.stmts;
    // The statements are counted after the first round, which joins them.
    let is_first = pass.known.before.statements == 0;
    let size: usize = l.body.0.walk().flat_map(|s| s.op.scalar_fns()).map(|(_, code)| walk(&code.instrs).count()).sum();
    let are_few = usize::try_from(n)
        .is_ok_and(|n| n.saturating_mul(stmts.len()) <= STATEMENTS && n.saturating_mul(size) <= INSTRUCTIONS);
    if is_first
        || !are_few
        || l.to.len() != l.init.len()
        || !stmts.iter().all(|s| simple(&s.op))
        || !is_batch(pass, l.init)
    {
        return false;
    }
    let defined: Vec<ArrayId> = stmts.iter().flat_map(|s| s.op.defines()).collect();
    let mut state = l.init.to_vec();
    for k in 0..n {
        let mut names: BTreeMap<ArrayId, ArrayId> = l.to.iter().copied().zip(state).collect();
        let row = l.row.map(|row| {
            let own = pass.array(ArrayInfo { rank: 0, columns: vec![ScalarType::I64] }, vec![]);
            names.insert(row, own);
            let mut code = Code::new(site);
            let k = code.constant(if *dir == Dir::Left { k } else { n - 1 - k });
            single(own, code.done(k), site)
        });
        for a in &defined {
            let info = pass.program.arrays[*a].clone();
            // The statement that defines it gives it its extents.
            let dims = (0..info.rank).map(|_| pass.facts.unknown()).collect();
            names.insert(*a, pass.array(info, dims));
        }
        let next: Vec<ArrayId> = l.body.1.iter().map(|a| names.get(a).copied().unwrap_or(*a)).collect();
        let mut step = l.body.0.clone();
        Numbers::from(names).block(&mut step);
        deep(|| row.iter().chain(&step.stmts).for_each(|s| pass.stmt(s)));
        state = next.into_iter().map(|a| pass.alias(a)).collect();
    }
    pass.known.aliases.extend(l.to.iter().copied().zip(state));
    true
}

/// Whether all these arrays, of which some are no vectors, have the same number of lanes, which is no constant, and few elements in each.
fn is_batch(pass: &Pass, state: &[ArrayId]) -> bool {
    let dims: Vec<Vec<Poly>> = state.iter().map(|a| pass.facts.dims(*a)).collect();
    let lanes = |dims: &Vec<Poly>| dims.first().cloned();
    let size = |dims: &Vec<Poly>| dims.iter().skip(1).try_fold(1, |n, d| d.as_constant()?.checked_mul(n));
    let first = dims.iter().find_map(lanes);
    let same = |d: &Vec<Poly>| lanes(d).as_ref() == first.as_ref() && size(d).is_some_and(|n| n <= LANE);
    first.as_ref().is_some_and(|n| n.as_constant().is_none())
        && dims.iter().all(same)
        && dims.iter().any(|d| d.len() > 1)
}
