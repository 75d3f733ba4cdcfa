//! Recomputed operands: matrix products that compute their operands where they read them.
//!
//! NOTE [Recomputed operands]: fusion stores the result of a loop if each element is read many times, even if the
//! elements are cheap: for example the differences of elements of two far smaller arrays, as for the distances of all
//! points from all means. A product on a GPU reads an operand once for each tile. There, computing an element takes
//! less time than reading it. So the product computes its operand from the smaller arrays, and the loop and its memory
//! traffic disappear. Other consumers recompute the elements too, if they read every element at most once.

use crate::kernel::builder::{Builder, renamed};
use crate::kernel::dead_code::eliminate_dead_code;
use crate::kernel::{ArrayId, Block, IndexVec, Instr, Op, Reduction, Reg, ScalarFn, arrays_mentioned, is_permutation};
use crate::optimize::rules::{Place, Rule};
use crate::optimize::scalar::recomputation::{LITTLE_WORK, MAX_READS};
use std::collections::BTreeSet;

/// `x = loop f; reduce x[i, k] * y[k, j]` is `reduce f(i, k) * y[k, j]`, if `f` takes little work.
pub(crate) struct ComputeOperands;

impl Rule for ComputeOperands {
    fn block(&mut self, _: &mut Place, b: &mut Block, results: &mut [ArrayId]) {
        let mut next = 0;
        while next < b.stmts.len() {
            match computed_at_readers(b, next, results) {
                Some(ops) => {
                    b.stmts.iter_mut().zip(ops).for_each(|(s, op)| s.op = op);
                    b.stmts.remove(next);
                }
                None => next += 1,
            }
        }
    }
}

/// All operations of the block after the producer is recomputed in all its consumers, if this pays.
fn computed_at_readers(b: &Block, producer: usize, results: &[ArrayId]) -> Option<Vec<Op>> {
    let Op::Loop { to, body, .. } = &b.stmts[producer].op else { return None };
    let &[array] = to.as_slice() else { return None };
    if results.contains(&array) || !is_cheap(body) {
        return None;
    }
    let (mut ops, mut places, mut products) = (vec![], 0, 0);
    for s in &b.stmts {
        let mut op = s.op.clone();
        let mut used = BTreeSet::new();
        op.used_arrays(&mut used);
        if used.contains(&array) {
            places += 1;
            products += usize::from(computed(&mut op, array, body)?);
        }
        ops.push(op);
    }
    (products > 0 && places <= MAX_READS).then_some(ops)
}

/// Whether the elements take little work, and at most one of the arrays that they read is not smaller.
fn is_cheap(body: &ScalarFn) -> bool {
    let Some(element) = body.element() else { return false };
    let large = element.reads.iter().filter(|r| r.index.len() >= body.params).count();
    large <= 1 && body.work() <= LITTLE_WORK
}

/// Recomputes the elements of an array where an operation reads them. Returns whether the operation is a product.
/// `None` if this is impossible or does not pay.
fn computed(op: &mut Op, array: ArrayId, body: &ScalarFn) -> Option<bool> {
    let is_product = match op {
        Op::Reduce { rows, .. } => {
            let element = with_elements(&rows.element, array, body)?;
            let rows_after = Reduction { element, ..rows.clone() };
            let is_product = rows.contraction_of_computed_operands().is_some()
                && rows_after.contraction_of_computed_operands().is_some();
            if !is_product && !reads_once(&rows.element, array) {
                return None;
            }
            *rows = rows_after;
            is_product
        }
        Op::Loop { body: code, .. } if reads_once(code, array) => {
            *code = with_elements(code, array, body)?;
            false
        }
        _ => return None,
    };
    // The extents of the array are used elsewhere.
    let mut used = BTreeSet::new();
    op.used_arrays(&mut used);
    (!used.contains(&array)).then_some(is_product)
}

/// Whether a scalar function reads no element of the array twice.
fn reads_once(code: &ScalarFn, array: ArrayId) -> bool {
    code.instrs.iter().all(|i| match i {
        Instr::Read { array: read, index, .. } if *read == array => is_permutation(index, code.params),
        _ => true,
    })
}

/// Replaces the reads of an array by the computation of its elements; `None` if the scalar function uses the array in
/// another way.
fn with_elements(code: &ScalarFn, array: ArrayId, body: &ScalarFn) -> Option<ScalarFn> {
    let mut b = Builder::new(code.param_types());
    let mut to: IndexVec<Reg, Reg> = b.params().into();
    to.extend(code.types.iter().skip(code.params).map(|t| b.reg(*t)));
    for i in &code.instrs {
        match i {
            Instr::Read { to: element, array: read, index, inside: true, .. } if *read == array => {
                let index: Vec<_> = index.iter().map(|r| to[*r]).collect();
                element.iter().zip(b.inline(body, &index)).for_each(|(old, new)| to[*old] = new);
            }
            _ => b.emit(renamed(i, &|r| to[*r])),
        }
    }
    let mut code = b.finish(code.results.iter().map(|r| to[*r]).collect());
    eliminate_dead_code(&mut code);
    let mut mentioned = BTreeSet::new();
    arrays_mentioned(&code.instrs, &mut mentioned);
    (!mentioned.contains(&array)).then_some(code)
}
