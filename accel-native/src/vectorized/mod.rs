//! A vectorized interpreter of kernel programs: it executes each instruction for a batch of some hundred elements, in a
//! loop that rustc has vectorised (Boncz, Zukowski, Nes, "MonetDB/X100: hyper-pipelining query execution", 2005).
//!
//! It needs no compiler and starts at once, so it runs a program while the C compiler works on it, and on machines that
//! have no C compiler. It is an [`Executor`] of statements: the evaluator of kernel programs executes control flow, and
//! everything for which there is no way here. If a check fails for some element of a batch, the evaluator executes the
//! statement again, element by element, and finds the error that belongs to the first element. So errors are those of
//! compiled programs.
//!
//! Results are those of the evaluator, with three exceptions. What a loop adds to sums (`Accumulate`) is added one
//! instruction after the other, each for a batch of elements. An operator that is not a primitive function reduces
//! rows in parts, and scans in parts the rows that compiled code also cuts. The library for matrix products adds in its own order and rounds a product and the addition
//! that follows it once. So there are fewer differences from the reference interpreter than in compiled code.

mod argsort;
mod lanes;
mod loops;
mod machine;
mod memory;
mod operator;
mod permute;
mod primitives;
mod product;
mod reduce;
mod registers;
mod rows;
mod scan;
mod space;

use accel_core::repr::RawArray;
use accel_fusion::kernel::scalar_evaluation::extents;
use accel_fusion::kernel::{Arrays, Executor, Op, Program, Stmt};
use machine::Context;
use permute::Permutation;

/// Executes statements in batches.
#[derive(Clone, Copy, Debug)]
pub struct Vectorized;

impl Executor for Vectorized {
    fn execute(&self, program: &Program, arrays: &Arrays, statement: &Stmt) -> Option<Vec<RawArray>> {
        let site = statement.site;
        let context = Context { program, arrays, site };
        let extents = |code| extents(program, arrays, code, site).ok();
        match &statement.op {
            Op::Loop { to, extents: e, body } => loops::tabulated(context, to, &extents(e)?, body),
            Op::Accumulate { to, sums, extents: e, body } => loops::accumulated(context, to, sums, &extents(e)?, body),
            Op::Reduce { extents: e, rows, .. } => Some(vec![reduce::reduce(context, rows, &extents(e)?)?]),
            Op::Scan { kept, extents: e, reverse, down, rows, .. } => {
                Some(vec![scan::scan(context, kept, (*reverse, *down), rows, &extents(e)?)?])
            }
            Op::Permute { defaults, extents: e, target, element, comb, monoid, .. } => {
                let permutation = Permutation { target, element, comb, monoid: *monoid };
                Some(vec![permute::permute(context, permutation, context.array(*defaults)?, &extents(e)?)?])
            }
            Op::Argsort { keys, moved, .. } => argsort::argsort(context, *keys, moved),
            // These are control flow, copy whole arrays, or are computed elsewhere.
            Op::Foreign { .. } => None,
            Op::Literal { .. } | Op::Reshape { .. } | Op::Agree { .. } | Op::If { .. } => None,
            Op::While { .. } | Op::Keep { .. } | Op::Recall { .. } | Op::Strip { .. } => None,
        }
    }
}
