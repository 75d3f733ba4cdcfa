//! Copies of scans: scans define the arrays to which loops copy their results.
//!
//! NOTE [Copies of scans]: the derivative of a scan adds the results of a scan to an adjoint that is 0, and a scan that goes down
//! leaves a loop that only copies. Such loops take as long as the scan itself.

use crate::kernel::{ArrayId, Block, Op, Program, ScalarFn, Stmt, scan_extents};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::fuse::fused_program::{is_never_negative_zero, moved_array};
use crate::optimize::fuse::split_columns::used_as_whole;
use crate::optimize::layout::compact::{Numbers, compact};
use crate::optimize::rules::{Place, Rule, rewrite};
use crate::optimize::scalar::scalar_cleanup::{ExecutionCount, NoProducers, clean};
use std::collections::{BTreeMap, BTreeSet};

/// Lets scans define the copies of their arrays.
pub(crate) fn define_copies(program: &Program) -> Program {
    // These keep their numbers.
    let whole = used_as_whole(program);
    compact(&rewrite(program, &mut DefineCopies { whole, facts: Facts::new(program, false) }))
}

/// `a = scan r; b = loop a[i]` is `b = scan r`.
struct DefineCopies {
    whole: BTreeSet<ArrayId>,
    facts: Facts,
}

impl Rule for DefineCopies {
    fn stmt(&mut self, _: &mut Place, s: Stmt, before: &mut Vec<Stmt>) {
        if let Op::Scan { to, .. } = s.op
            && !self.whole.contains(&to)
        {
            let all = dims(&s.op, &mut self.facts);
            self.facts.set_dims(to, all);
        }
        before.push(s);
    }

    /// Removes loops that copy the array of a scan of this block. The scan defines the copy instead.
    fn block(&mut self, _: &mut Place, b: &mut Block, _: &mut [ArrayId]) {
        let mut k = 0;
        while k < b.stmts.len() {
            let scan = &b.stmts[k].op;
            if let Op::Scan { to, .. } = *scan
                && !self.whole.contains(&to)
                && let Some((n, copy)) =
                    (k + 1..b.stmts.len()).find_map(|n| Some((n, copy_of(&b.stmts[n].op, scan, to, &mut self.facts)?)))
            {
                b.stmts.remove(n);
                Numbers::from(BTreeMap::from([(to, copy)])).block(b);
            }
            k += 1;
        }
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
