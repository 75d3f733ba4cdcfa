//! Chooses the statements that are executed in a frame.
//!
//! NOTE [Frames]: a statement of a few numbers takes less time than what surrounds it: memory from the run's table, a call through a
//! pointer, the comparison of extents, references. So statements on arrays of few elements whose extents are constants are written into one
//! function, with loops between constants, and with their arrays in its frame. This includes loops over time with such a state: their
//! steps are executed without a call, and only the lists that they fill are outside. C compilers unroll and vectorise these loops as
//! they like; the order of additions is that of the kernels for as little work. Mathematical functions are computed for one number at a time,
//! or for whole arrays by functions of their own (NOTE [Functions of arrays] in `accel_fusion`): which loops become vectors depends on
//! the code around them, and a tape that computes a step again, in another function, has to get the same bits.
//!
//! A frame has consecutive statements of a block. What they define is in local variables; what others use afterwards is copied to memory of
//! the run at the end of the frame.

use super::host::inline::is_inline;
use crate::analysis::liveness::{Block, Step};
use crate::cost_model::{FRAME, FRAMED, FRAMED_ARRAY, SERIAL};
use crate::text::types::bytes;
use accel_core::ast::deep;
use accel_fusion::kernel::{ArrayId, Op, Program, Reduction, ScalarFn, walk};
use accel_fusion::optimize::{InputExtents, KnownExtents, constants, known_extents};
use std::collections::BTreeSet;

/// The frames of a program.
pub struct Frames {
    /// The extents of arrays that are constants.
    pub known: KnownExtents,
}

impl Frames {
    /// Chooses the statements that are executed in frames, and gives the statements of each frame its number.
    pub fn choose(program: &Program, given: &InputExtents, body: &mut Block) -> Frames {
        let known = known_extents(program, given);
        let mut choice = Choice { program, known: &known, count: 0 };
        choice.block(body);
        Frames { known }
    }

    /// No frames, as in a scalar program.
    pub fn none(program: &Program) -> Frames {
        Frames { known: program.arrays.iter().map(|_| None).collect() }
    }
}

struct Choice<'a> {
    program: &'a Program,
    known: &'a KnownExtents,
    /// The number of frames.
    count: usize,
}

/// What a frame would contain.
#[derive(Clone, Copy, Default)]
struct Size {
    /// The bytes of its arrays.
    bytes: i64,
    /// The instructions of its code.
    instrs: usize,
}

impl Choice<'_> {
    fn block(&mut self, b: &mut Block) {
        let (mut start, mut total) = (0, Size::default());
        let mut lists = BTreeSet::new();
        for k in 0..=b.steps.len() {
            let size = b.steps.get(k).and_then(|s| self.size(&s.stmt.op));
            let joins = size.filter(|size| {
                let mut used = BTreeSet::new();
                b.steps[k].stmt.op.used_arrays(&mut used);
                // A list is not in the frame while it grows.
                used.is_disjoint(&lists) && total.bytes + size.bytes <= FRAME && total.instrs + size.instrs <= FRAMED
            });
            match joins {
                Some(size) => total = Size { bytes: total.bytes + size.bytes, instrs: total.instrs + size.instrs },
                None => {
                    self.frame(&mut b.steps[start..k]);
                    lists.clear();
                    (start, total) = match size {
                        Some(size) => (k, size),
                        None => (k + 1, Size::default()),
                    };
                    if let (None, Some(s)) = (size, b.steps.get_mut(k)) {
                        deep(|| s.blocks.iter_mut().for_each(|b| self.block(b)));
                    }
                }
            }
            if size.is_some() {
                lists.extend(lists_of(&b.steps[k].stmt.op));
            }
        }
    }

    /// Executes some statements in a frame if that pays.
    fn frame(&mut self, steps: &mut [Step]) {
        // The host program computes single numbers anyway.
        let is_number = |s: &Step| is_inline(&s.stmt.op, false);
        let pays = |s: &Step| match s.stmt.op {
            Op::Literal { .. } | Op::Reshape { .. } | Op::Agree { .. } => false,
            Op::If { .. } => !s.blocks.iter().flat_map(|b| &b.steps).all(is_number),
            _ => !is_number(s),
        };
        if !steps.iter().any(pays) {
            return;
        }
        steps.iter_mut().for_each(|s| s.frame = Some(self.count));
        self.count += 1;
    }

    /// What a statement needs in a frame, if it can be executed in one.
    fn size(&self, op: &Op) -> Option<Size> {
        let mut total = Size::default();
        let lists = lists_of(op);
        for a in op.defines().iter().filter(|a| !lists.contains(a) && !matches!(op, Op::Literal { .. })) {
            total.bytes += self.bytes(*a)?;
        }
        total.instrs += op.scalar_fns().iter().map(|(_, code)| walk(&code.instrs).count()).sum::<usize>() + 1;
        let is_small = match op {
            Op::Loop { extents, body, .. } => self.work(extents, 1, body.cost()),
            Op::Accumulate { extents, body, .. } => self.work(extents, 1, body.cost()),
            Op::Permute { extents, target, element, comb, .. } => {
                self.work(extents, 1, target.cost() + element.cost() + comb.cost())
            }
            Op::Reduce { extents, rows, .. } => self.work(extents, self.length(rows)?, rows.cost()),
            Op::Scan { extents, rows, .. } => self.work(extents, self.length(rows)?, rows.cost()),
            Op::Keep { arrays, .. } => arrays.iter().all(|a| self.bytes(*a).is_some()),
            Op::Literal { .. }
            | Op::Reshape { .. }
            | Op::Agree { .. }
            | Op::If { .. }
            | Op::While { .. }
            | Op::Recall { .. }
            | Op::Strip { .. } => true,
            Op::Argsort { .. } | Op::Foreign { .. } => false,
        };
        if !is_small {
            return None;
        }
        // What is copied in a frame has as many elements as what it replaces.
        if moves(op).iter().any(|(to, from)| self.known[*to] != self.known[*from]) {
            return None;
        }
        // Rows of lists and results of branches may be arrays from outside, which have known extents, too.
        for (b, results) in op.blocks_with_results() {
            if results.iter().any(|a| self.bytes(*a).is_none()) {
                return None;
            }
            for s in &b.stmts {
                // What follows could read a list, which is not in the frame.
                if !lists_of(&s.op).is_empty() {
                    return None;
                }
                let inner = deep(|| self.size(&s.op))?;
                (total.bytes, total.instrs) = (total.bytes + inner.bytes, total.instrs + inner.instrs);
            }
        }
        let inits: &[ArrayId] = if let Op::While { init, .. } = op { init } else { &[] };
        let fits = total.bytes <= FRAME && total.instrs <= FRAMED && inits.iter().all(|a| self.bytes(*a).is_some());
        fits.then_some(total)
    }

    /// Whether a statement takes so little that it is one task, if it has this number of operations for each element of rows of this
    /// length.
    fn work(&self, extents: &ScalarFn, len: i64, cost: usize) -> bool {
        let Some(extents) = constants(extents, self.known) else { return false };
        let elements = extents.iter().chain([&len.max(1)]).try_fold(cost as i64, |n, e| n.checked_mul(*e));
        elements.is_some_and(|n| n < SERIAL as i64)
    }

    /// The length of rows that can be combined.
    fn length(&self, rows: &Reduction) -> Option<i64> {
        let len = constants(&rows.len, self.known)?[0];
        (len > 0 || rows.init.is_some()).then_some(len)
    }

    /// The size of an array of a frame.
    fn bytes(&self, a: ArrayId) -> Option<i64> {
        let n = self.known[a].as_ref()?.iter().try_fold(1i64, |n, e| n.checked_mul(*e))?;
        let width: i64 = self.program.arrays[a].columns.iter().map(|t| i64::from(bytes(*t))).sum();
        n.checked_mul(width).filter(|n| *n <= FRAMED_ARRAY)
    }
}

/// The arrays that an operation with blocks copies: to each, from which one.
fn moves(op: &Op) -> Vec<(ArrayId, ArrayId)> {
    let pairs = |to: &[ArrayId], from: &[ArrayId]| to.iter().copied().zip(from.iter().copied()).collect::<Vec<_>>();
    match op {
        Op::If { to, then, otherwise, .. } => [pairs(to, &then.1), pairs(to, &otherwise.1)].concat(),
        Op::While { to, init, body, .. } => [pairs(to, init), pairs(&to[..init.len()], &body.1)].concat(),
        Op::Recall { to, step, .. } => pairs(to, &step.1),
        Op::Permute { to, defaults, .. } => vec![(*to, *defaults)],
        Op::Accumulate { sums, .. } => sums.clone(),
        _ => vec![],
    }
}

/// The lists that a loop fills.
pub fn lists_of(op: &Op) -> &[ArrayId] {
    match op {
        Op::While { to, init, .. } => &to[init.len()..],
        _ => &[],
    }
}
