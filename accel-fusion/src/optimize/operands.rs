//! Operands of products that are computed where they are read.
//!
//! NOTE [Products that compute their operands]: a loop whose elements are read many times each is stored, also where they are the
//! difference of two elements of far smaller arrays, as the distances of all points from all means are. A product on a GPU reads
//! them once for each tile that they are part of, and what it does there takes less time than reading: so it computes them from the smaller
//! arrays, and the loop is gone, with all that it wrote to memory. Other readers do so too if they read every element at most once.

use super::compact::compact;
use super::cost::{LITTLE, PLACES, work};
use crate::kernel::builder::{Builder, moved};
use crate::kernel::only::drop_unused;
use crate::kernel::{ArrayId, Block, Code, Instr, Op, Program, Rows, arrays_mentioned, is_permutation};
use accel_core::ast::deep;
use std::collections::BTreeSet;

/// The program with the operands of products computed where they are read, if they take little work.
pub(crate) fn compute_operands(program: &Program) -> Program {
    let mut program = program.clone();
    let mut body = std::mem::take(&mut program.body);
    block(&mut body, &program.results);
    program.body = body;
    compact(&program)
}

fn block(b: &mut Block, results: &[ArrayId]) {
    for s in &mut b.stmts {
        match &mut s.op {
            Op::If { then, otherwise, .. } => {
                deep(|| block(&mut then.0, &then.1));
                deep(|| block(&mut otherwise.0, &otherwise.1));
            }
            Op::While { cond, body, .. } => {
                deep(|| block(&mut cond.0, &[cond.1]));
                deep(|| block(&mut body.0, &body.1));
            }
            _ => {}
        }
    }
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

/// All operations of the block, with the elements that one of them computes computed where they are read, if that pays.
fn computed_at_readers(b: &Block, producer: usize, results: &[ArrayId]) -> Option<Vec<Op>> {
    let Op::Loop { to, body, .. } = &b.stmts[producer].op else { return None };
    let &[array] = to.as_slice() else { return None };
    if results.contains(&array) || !is_little(body) {
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
    (products > 0 && places <= PLACES).then_some(ops)
}

/// Whether elements take little work and are made of smaller arrays, but for one at most.
fn is_little(body: &Code) -> bool {
    let Some(element) = body.element() else { return false };
    let large = element.reads.iter().filter(|r| r.index.len() >= body.params).count();
    large <= 1 && work(body) <= LITTLE
}

/// Computes the elements of an array where an operation reads them; whether it is a product. `None` if that is not possible or does
/// not pay.
fn computed(op: &mut Op, array: ArrayId, body: &Code) -> Option<bool> {
    let is_product = match op {
        Op::Reduce { rows, .. } => {
            let element = with_elements(&rows.element, array, body)?;
            let rows_after = Rows { element, ..rows.clone() };
            let is_product = rows.computed_contraction().is_some() && rows_after.computed_contraction().is_some();
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
    // Its extents are asked for elsewhere.
    let mut used = BTreeSet::new();
    op.used_arrays(&mut used);
    (!used.contains(&array)).then_some(is_product)
}

/// Whether a code reads no element of an array twice.
fn reads_once(code: &Code, array: ArrayId) -> bool {
    code.instrs.iter().all(|i| match i {
        Instr::Read { array: read, index, .. } if *read == array => is_permutation(index, code.params),
        _ => true,
    })
}

/// The code with the elements of an array computed in place of reads; `None` if it mentions the array otherwise.
fn with_elements(code: &Code, array: ArrayId, body: &Code) -> Option<Code> {
    let mut b = Builder::new(&code.types[..code.params]);
    let mut to = b.params();
    to.extend(code.types[code.params..].iter().map(|t| b.reg(*t)));
    for i in &code.instrs {
        match i {
            Instr::Read { to: element, array: read, index, inside: true, .. } if *read == array => {
                let index: Vec<_> = index.iter().map(|r| to[*r]).collect();
                element.iter().zip(b.inline(body, &index)).for_each(|(old, new)| to[*old] = new);
            }
            _ => b.emit(moved(i, &|r| to[*r])),
        }
    }
    let mut code = b.finish(code.results.iter().map(|r| to[*r]).collect());
    drop_unused(&mut code);
    let mut mentioned = BTreeSet::new();
    arrays_mentioned(&code.instrs, &mut mentioned);
    (!mentioned.contains(&array)).then_some(code)
}
