//! Transposed operands: sums whose neighbouring results read distant numbers get a transposed copy of these.
//!
//! NOTE [Transposed operands]: `out[i, j] = Σₖ f(x[i, k], y[j, k])` reads `y` along `k`. A row of points has few
//! coordinates, so vectors along `k` are short, and the numbers of neighbouring results are far from each other. With
//! `y` transposed, neighbouring results read neighbouring numbers. The copy takes as long as one pass over `y`, and every
//! number of `y` is used for all `i`. Products of matrices do without: their library copies parts of its operands itself.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Block, IndexVec, Instr, Op, Reduction, Reg, Stmt};
use crate::optimize::rules::{Place, Rule};

/// Lets sums read transposed copies of operands where this pays. A strip has its operands in its working memory.
#[derive(Default)]
pub(crate) struct TransposeOperands {
    /// The visible copies: an array, a dimension, and the copy in which this is the last one.
    made: Vec<Transposed>,
}

type Transposed = (ArrayId, usize, ArrayId);

impl Rule for TransposeOperands {
    fn stmt(&mut self, place: &mut Place, mut s: Stmt, before: &mut Vec<Stmt>) {
        if let Op::Reduce { to, rows, .. } = &mut s.op {
            let copies = transposed(*to, rows, place.arrays, &mut self.made);
            before.extend(copies.into_iter().map(|op| Stmt { op, site: s.site }));
        }
        before.push(s);
    }

    fn block(&mut self, _: &mut Place, b: &mut Block, _: &mut [ArrayId]) {
        self.made.retain(|m| b.stmts.iter().all(|s| !s.op.defines().contains(&m.2)));
    }
}

/// Replaces the reads of operands by reads of transposed copies. Returns the loops that make them.
fn transposed(
    to: ArrayId,
    rows: &mut Reduction,
    arrays: &mut IndexVec<ArrayId, ArrayInfo>,
    made: &mut Vec<Transposed>,
) -> Vec<Op> {
    let Some(outer) = arrays[to].rank.checked_sub(1).filter(|d| *d > 0) else { return vec![] };
    let (j, k) = (Reg::new(outer), Reg::new(outer + 1));
    let simple = rows.element.is_branch_free() && rows.float_sum().is_some() && rows.contraction().is_none();
    if !simple {
        return vec![];
    }
    let params = rows.element.params;
    // The dimension of `j`, if the operand is one: it is read at parameters, along `k`, and several times.
    let dimension = |i: &Instr, arrays: &IndexVec<ArrayId, ArrayInfo>| match i {
        Instr::Read { array, index, inside: true, .. } if index.last() == Some(&k) && index.len() <= outer + 1 => {
            let distinct = index.iter().enumerate().all(|(n, r)| *r < params && !index[..n].contains(r));
            let one = arrays[*array].columns.len() == 1;
            index.iter().position(|r| *r == j).filter(|_| distinct && one)
        }
        _ => None,
    };
    // If another number depends on `j`, but not as the innermost index, its reads are as distant as before.
    let fits = |i: &Instr| match i {
        Instr::Read { index, .. } => match index.split_last() {
            Some((last, others)) => *last == j || !others.contains(&j) || dimension(i, arrays).is_some(),
            None => true,
        },
        _ => true,
    };
    if !rows.element.instrs.iter().all(fits) {
        return vec![];
    }
    let mut loops = vec![];
    for i in &mut rows.element.instrs {
        let Some(d) = dimension(i, arrays) else { continue };
        let Instr::Read { array, index, site, .. } = i else { continue };
        let last = index.len() - 1;
        let copy = match made.iter().find(|m| m.0 == *array && m.1 == d) {
            Some(m) => m.2,
            None => {
                let info = arrays[*array].clone();
                let mut extents = Builder::new(&[]);
                let mut all: Vec<Reg> = (0..info.rank).map(|dim| extents.extent(*array, dim)).collect();
                all.swap(d, last);
                let mut body = Builder::new(&index_types(info.rank));
                let mut from = body.params();
                from.swap(d, last);
                let element = body.reg(info.columns[0]);
                body.emit(Instr::Read { to: vec![element], array: *array, index: from, site: *site, inside: true });
                let copy = arrays.push(info);
                made.push((*array, d, copy));
                loops.push(Op::Loop { to: vec![copy], extents: extents.finish(all), body: body.finish(vec![element]) });
                copy
            }
        };
        *array = copy;
        index.swap(d, last);
    }
    loops
}
