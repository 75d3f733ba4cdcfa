//! The statements of a program, with everything that a run needs to know about them. It is computed once.

use accel_codegen::liveness;
use accel_core::ast::deep;
use accel_fusion::kernel::{ArrayId, Block, Instr, Op, ScalarFn, SiteId, Trips, arrays_read, walk};
use std::collections::BTreeSet;
use std::mem::take;

/// A sequence of statements; see [`liveness::Block`].
pub struct Plan {
    pub unused: Vec<ArrayId>,
    pub steps: Vec<Step>,
    pub owned_results: BTreeSet<ArrayId>,
}

/// A statement; see [`liveness::Step`].
pub struct Step {
    pub number: usize,
    pub site: SiteId,
    /// The operation. Its blocks are empty.
    pub op: Op,
    pub last_uses: Vec<ArrayId>,
    pub moved: BTreeSet<ArrayId>,
    pub in_place: Vec<Option<(ArrayId, usize)>>,
    pub blocks: Vec<Plan>,
    /// For a loop of rank 0 that the host can evaluate: the arrays whose elements it needs for that.
    pub on_host: Option<Vec<ArrayId>>,
    /// The arrays of which the statement makes copies that can take over their memory.
    pub overwritten: BTreeSet<ArrayId>,
}

impl Plan {
    pub fn new(mut block: liveness::Block) -> Plan {
        Plan {
            unused: take(&mut block.unused),
            steps: deep(|| take(&mut block.steps).into_iter().map(step).collect()),
            owned_results: take(&mut block.owned_results),
        }
    }
}

/// As NOTE [Deep nests] in `accel_fusion` explains.
impl Drop for Plan {
    fn drop(&mut self) {
        deep(|| self.steps.clear());
    }
}

fn step(s: liveness::Step) -> Step {
    let none = Block::default;
    let op = match &s.stmt.op {
        Op::If { to, cond, then, otherwise } => Op::If {
            to: to.clone(),
            cond: cond.clone(),
            then: (none(), then.1.clone()),
            otherwise: (none(), otherwise.1.clone()),
        },
        Op::While { to, init, trips, row, body } => Op::While {
            to: to.clone(),
            init: init.clone(),
            trips: match trips {
                Trips::While(_, continues) => Trips::While(none(), *continues),
                Trips::Times(n, dir) => Trips::Times(*n, *dir),
            },
            row: *row,
            body: (none(), body.1.clone()),
        },
        Op::Recall { to, tape, at, step } => {
            Op::Recall { to: to.clone(), tape: *tape, at: at.clone(), step: (none(), step.1.clone()) }
        }
        op => op.clone(),
    };
    let on_host = match &op {
        Op::Loop { extents, body, .. } if extents.results.is_empty() && is_short(body) => {
            let mut read = BTreeSet::new();
            arrays_read(&body.instrs, &mut read);
            Some(read.into_iter().collect())
        }
        _ => None,
    };
    let overwritten = s.overwritten();
    Step {
        number: s.number,
        site: s.stmt.site,
        op,
        last_uses: s.last_uses.into_iter().collect(),
        moved: s.moved,
        in_place: s.in_place,
        blocks: s.blocks.into_iter().map(Plan::new).collect(),
        on_host,
        overwritten,
    }
}

/// Whether the host evaluates the scalar function in less time than the launch of a kernel takes.
fn is_short(c: &ScalarFn) -> bool {
    walk(&c.instrs).map(|i| if matches!(i, Instr::While { .. }) { 1000 } else { 1 }).sum::<usize>() <= 200
}
