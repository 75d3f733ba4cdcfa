//! Copies of scans: scans define the arrays to which loops copy their results.
//!
//! NOTE [Copies of scans]: the derivative of a scan adds the results of a scan to an adjoint that is 0, and a scan that goes down
//! leaves a loop that only copies. Such loops take as long as the scan itself.

use crate::kernel::{ArrayId, Block, Instr, Op, Program, ScalarFn, scan_extents, walk_mut};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::fuse::fused_program::{is_never_negative_zero, moved_array};
use crate::optimize::layout::compact::compact;
use crate::optimize::scalar::scalar_cleanup::{ExecutionCount, NoProducers, clean};
use accel_core::ast::deep;
use std::collections::BTreeSet;

/// Lets scans define the copies of their arrays.
pub(crate) fn define_copies(program: &Program) -> Program {
    let mut program = program.clone();
    let mut body = std::mem::take(&mut program.body);
    // These keep their numbers.
    let mut whole: BTreeSet<ArrayId> = program.results.iter().copied().collect();
    body.walk().for_each(|s| s.op.arrays_used_whole(&mut whole));
    remove_copies(&mut body, &whole, &mut Facts::new(&program, false));
    program.body = body;
    compact(&program)
}

/// Removes loops that copy the array of a scan of this block. The scan defines the copy instead.
fn remove_copies(b: &mut Block, whole: &BTreeSet<ArrayId>, facts: &mut Facts) {
    let mut k = 0;
    while k < b.stmts.len() {
        if let Op::Scan { to, .. } = b.stmts[k].op
            && !whole.contains(&to)
        {
            let scan = &b.stmts[k].op;
            let all = dims(scan, facts);
            facts.set_dims(to, all);
            let copy = (k + 1..b.stmts.len()).find_map(|n| Some((n, copy_of(&b.stmts[n].op, scan, to, facts)?)));
            if let Some((n, copy)) = copy {
                b.stmts.remove(n);
                b.stmts[k..].iter_mut().for_each(|s| rename(&mut s.op, to, copy));
            }
        }
        for inner in b.stmts[k].op.blocks_mut() {
            deep(|| remove_copies(inner, whole, facts));
        }
        k += 1;
    }
}

/// The values of a scalar function of extents.
fn values(code: &ScalarFn, facts: &mut Facts) -> Vec<Poly> {
    let all = clean(facts, &NoProducers, code, &[], ExecutionCount::Maybe).values;
    all.into_iter().map(|value| value.unwrap_or_else(|| facts.unknown())).collect()
}

/// The extents of the array of a scan.
fn dims(op: &Op, facts: &mut Facts) -> Vec<Poly> {
    let Op::Scan { extents, down, rows, .. } = op else { return vec![] };
    let outer = values(extents, facts);
    let len = values(&rows.len, facts).pop().unwrap_or_default();
    scan_extents(&outer, len.plus_constant(rows.init.is_some().into()), *down)
}

/// The array that the operation defines, if it is a copy of the array of a scan.
fn copy_of(op: &Op, scan: &Op, from: ArrayId, facts: &mut Facts) -> Option<ArrayId> {
    let (Op::Loop { to, extents, body }, Op::Scan { rows, .. }) = (op, scan) else { return None };
    let ([to], (array, index, plus_zero)) = (&to[..], moved_array(body)?) else { return None };
    let is_copy = array == from
        && index.iter().copied().eq(body.param_regs())
        && (!plus_zero || is_never_negative_zero(rows))
        && values(extents, facts) == facts.dims(from);
    is_copy.then_some(*to)
}

/// Gives the array of a scan another number in an operation and its blocks.
fn rename(op: &mut Op, from: ArrayId, new: ArrayId) {
    if let Op::Scan { to, .. } = op
        && *to == from
    {
        *to = new;
    }
    for code in op.scalar_fns_mut() {
        walk_mut(&mut code.instrs, |i| match i {
            Instr::Read { array: a, .. } | Instr::Extent(_, a, _) if *a == from => *a = new,
            _ => {}
        });
    }
    for inner in op.blocks_mut() {
        deep(|| inner.stmts.iter_mut().for_each(|s| rename(&mut s.op, from, new)));
    }
}
