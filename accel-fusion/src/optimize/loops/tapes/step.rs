//! The step of a tape: the part of a loop's body that computes the kept states.

use super::single::{Code, new_single, single};
use crate::kernel::{ArrayId, Block, Op, Program, Reg, SiteId, Stmt, Trips};
use crate::optimize::layout::compact::Numbers;
use accel_core::ast::Dir;
use accel_core::repr::ScalarType;
use accel_core::repr::op::Num2;
use std::collections::{BTreeMap, BTreeSet};

/// A loop: its state, and the body that computes the next one. The last component is the row of the step, which the last statement moves
/// on: so a tape can keep it.
pub struct Body {
    pub state: Vec<ArrayId>,
    pub init: Vec<ArrayId>,
    pub next: Vec<ArrayId>,
    pub stmts: Vec<Stmt>,
    pub order: Order,
}

/// The order of the steps of a loop.
#[derive(Clone, Copy)]
pub struct Order {
    /// The number of steps, if they go from the right.
    from: Option<ArrayId>,
}

impl Order {
    /// The number of the step that belongs to a row.
    pub fn step(&self, code: &mut Code, row: ArrayId) -> Reg {
        let row = code.number(row);
        let Some(n) = self.from else { return row };
        let (n, one) = (code.number(n), code.constant(1));
        let last = code.op(Num2::Sub, n, one);
        code.op(Num2::Sub, last, row)
    }
}

impl Body {
    /// The body of a loop.
    pub fn of(program: &mut Program, loop_: &Op, site: SiteId) -> Option<Body> {
        let Op::While { to, init, trips, row, body } = loop_ else { return None };
        let mut number = || new_single(program, ScalarType::I64);
        let (row, next) = (row.unwrap_or_else(&mut number), number());
        let (from, op) = match trips {
            Trips::Times(n, Dir::Right) => (Some(*n), Num2::Sub),
            Trips::Times(_, Dir::Left) | Trips::While(..) => (None, Num2::Add),
        };
        let mut code = Code::new(site);
        let (k, one) = (code.number(row), code.constant(1));
        let moved = code.op(op, k, one);
        let moved = single(next, code.done(moved), site);
        Some(Body {
            state: [&to[..init.len()], &[row]].concat(),
            init: [&init[..], &[row]].concat(),
            next: [&body.1[..init.len()], &[next]].concat(),
            stmts: [&body.0.stmts[..], &[moved]].concat(),
            order: Order { from },
        })
    }

    /// The row of the step.
    pub fn row(&self) -> ArrayId {
        self.state[self.state.len() - 1]
    }

    /// Whether a component of the state stays as it is.
    pub fn is_constant(&self, k: usize) -> bool {
        self.state[k] == self.next[k]
    }

    /// The components of the state from which the components `wanted` can be computed again, and the statements of the
    /// body that do so. `None` if they use a tape.
    pub fn closure(&self, wanted: &BTreeSet<usize>) -> Option<(Vec<usize>, Vec<usize>)> {
        let mut kept = wanted.clone();
        loop {
            let mut needed: BTreeSet<ArrayId> = kept.iter().map(|k| self.next[*k]).collect();
            let mut used = vec![];
            for (at, s) in self.stmts.iter().enumerate().rev() {
                if s.op.defines().iter().any(|a| needed.contains(a)) {
                    s.op.used_arrays(&mut needed);
                    used.push(at);
                }
            }
            let changing = (0..self.state.len()).filter(|k| !self.is_constant(*k));
            let all: BTreeSet<usize> =
                changing.filter(|k| needed.contains(&self.state[*k])).chain(kept.clone()).collect();
            if all == kept {
                used.reverse();
                let tape = |s: &Stmt| matches!(s.op, Op::Keep { .. } | Op::Recall { .. });
                let has_tape = |s: &Stmt| tape(s) || s.op.blocks().into_iter().flat_map(Block::walk).any(tape);
                let free = !used.iter().any(|at| has_tape(&self.stmts[*at]));
                return free.then(|| (kept.into_iter().collect(), used));
            }
            kept = all;
        }
    }
}

/// A copy of some statements with arrays of its own. `names` are those of the state, to which the new ones are added.
pub fn copy(program: &mut Program, stmts: Vec<Stmt>, names: &mut BTreeMap<ArrayId, ArrayId>) -> Block {
    let mut block = Block { stmts };
    let defined: Vec<ArrayId> = block.walk().flat_map(|s| s.op.defines()).collect();
    for a in defined {
        // The arrays of a strip are defined by its statements, too.
        let info = program.arrays[a].clone();
        names.entry(a).or_insert_with(|| program.arrays.push(info));
    }
    let all = Numbers::from(std::mem::take(names));
    all.block(&mut block);
    *names = all.into();
    block
}
