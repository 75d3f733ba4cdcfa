//! Sums of products of matrices: one reduction whose elements are sums of products.
//!
//! NOTE [Sums of products]: `Σ_c f(p, c) + Σ_c g(p, c) = Σ_c (f(p, c) + g(p, c))`. The left side stores two arrays and adds them;
//! for the right side, the library for products adds those of `g` to those of `f` where these are. So a convolution that is
//! written as a sum of matrix products, one for each place of its weights, does not store each of them. Without digits, the
//! reduction would be a nest of loops, which is slower than the library for large matrices.

use super::fused_program::{NewReduction, Pass};
use super::permute_sums::{add_summands, whole_array};
use super::strided_product::StridedProduct;
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, Instr, Op, Reduction, Reg, Stmt};
use accel_core::repr::op::{Num2, Op2};

/// If the last statement is a loop that adds sums of products that only it reads, and whose rows have the same length, one
/// reduction replaces it.
pub fn sum_of_products(pass: &mut Pass) {
    let Some(Stmt { op: Op::Loop { to, body, .. }, site }) = pass.open.last().and_then(|(_, open)| open.last()) else {
        return;
    };
    let ([to], [result], site) = (&to[..], &body.results[..], *site) else { return };
    let (to, mut summands) = (*to, vec![]);
    add_summands(body, *result, &mut summands);
    let dims = pass.facts.dims(to);
    let arrays: Option<Vec<ArrayId>> =
        summands.iter().map(|r| whole_array(body, *r).filter(|a| pass.facts.dims(*a) == dims)).collect();
    let Some(arrays) = arrays.filter(|arrays| arrays.len() > 1) else { return };
    let rows: Option<Vec<Reduction>> = arrays
        .iter()
        .map(|a| {
            let rows = pass.reduction(*a, 1)?.0;
            let terms = StridedProduct::terms_of_rows(dims.len(), rows)?;
            (rows.begins_with_zero() && terms.iter().any(StridedProduct::divides)).then(|| rows.clone())
        })
        .collect();
    let Some(rows) = rows else { return };
    let lengths: Vec<_> = rows.iter().map(|r| pass.preview(&r.len, &[]).values.pop().flatten()).collect();
    let Some(len) = lengths[0].clone().filter(|_| lengths.iter().all(|n| *n == lengths[0])) else { return };
    if arrays.iter().any(|a| !pass.facts.are_known_without(*a, &[&dims[..], std::slice::from_ref(&len)].concat())) {
        return;
    }
    let mut b = Builder::new(&index_types(dims.len() + 1));
    let index = b.params();
    let t = pass.program.arrays[to].columns[0];
    let terms: Vec<Reg> = rows.iter().flat_map(|r| b.inline(&r.element, &index)).collect();
    let add = |x, y| {
        let sum = b.reg(t);
        b.emit(Instr::Op2(sum, Op2::Num(Num2::Add), x, y));
        sum
    };
    let Some(sum) = terms.into_iter().reduce(add) else { return };
    let first = rows[0].clone();
    let Some(init) = first.init else { return };
    let sum = NewReduction { element: b.finish(vec![sum]), init, op: first.op, monoid: first.monoid };
    pass.open.last_mut().into_iter().for_each(|(_, open)| _ = open.pop());
    pass.known.producers.remove(&to);
    pass.reduce(to, dims, len, sum, site);
}
