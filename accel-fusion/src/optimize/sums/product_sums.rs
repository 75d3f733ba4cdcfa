//! Sums of sums of products: one reduction, if this is a strided product (NOTE [Strided products] in `strided_product`).
//!
//! NOTE [Sums of products]: `Σ_c f(p, c) + Σ_c g(p, c) = Σ_c (f(p, c) + g(p, c))`. The left side stores two arrays and adds them;
//! for the right side, the library for products adds those of `g` to those of `f` where these are. So a convolution that is
//! written as a sum of matrix products, one for each place of its weights, does not store each of them. Without digits, the
//! reduction would be a nest of loops, which is slower than the library for large matrices.
//!
//! A sum over several indices, one after the other, is a sum over one index, whose digits they are. So a formula is as fast
//! however its sums are written, and the inner sums are not stored.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::contraction::summands;
use crate::kernel::{ArrayId, Instr, Op, Reduction, Reg, SiteId, Stmt};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::strided_product::StridedProduct;
use crate::optimize::fuse::fused_program::{NewReduction, Pass};
use crate::optimize::scalar::scalar_cleanup::code_of;
use crate::optimize::sums::permute_sums::whole_array;
use crate::optimize::sums::sum_interchange::OuterSum;
use accel_core::repr::op::{Num2, Op2};

/// If these rows are sums of sums of products, and all of it is one strided product, emits this sum, whose rows are longer.
/// Returns whether it did.
pub fn nested(pass: &mut Pass, to: ArrayId, dims: &[Poly], len: &Poly, rows: &Reduction, site: SiteId) -> bool {
    let Some((outer, init)) = OuterSum::of(rows).filter(|o| o.steps.is_empty()).zip(rows.init.clone()) else {
        return false;
    };
    let Some(inner) = pass.reduction(outer.array, 1).map(|(rows, _)| rows.clone()) else { return false };
    let Some(Some(inner_len)) = pass.preview(&inner.len, &[]).values.pop() else { return false };
    let all = [pass.facts.dims(outer.array), vec![inner_len.clone()]].concat();
    if inner.float_sum().is_none() || inner.initial_zero().is_none() || !pass.facts.are_known_without(outer.array, &all)
    {
        return false;
    }
    // The index of the outer sum is the higher digit of the new one.
    let mut b = Builder::new(&index_types(dims.len() + 1));
    let last = Reg::new(dims.len());
    let n = b.inline(&code_of(&mut pass.facts, std::slice::from_ref(&inner_len)), &[])[0];
    let (high, low) = (b.index_op(Num2::Div, last, n), b.index_op(Num2::Rem, last, n));
    let args: Vec<Reg> = outer.index.iter().map(|p| if *p == last { high } else { *p }).chain([low]).collect();
    let results = b.inline(&inner.element, &args);
    let element = b.finish(results);
    let candidate = Reduction { element, ..rows.clone() };
    if StridedProduct::of_rows(dims.len(), &candidate).is_none() {
        return false;
    }
    let Some(both) = pass.facts.product_of_extents(len, &inner_len).filter(|n| pass.facts.is_known(n)) else {
        return false;
    };
    let sum = NewReduction { element: candidate.element, init, op: rows.op.clone(), monoid: rows.monoid };
    pass.reduce(to, dims.to_vec(), both, sum, site);
    true
}

/// If the last statement is a loop that adds sums of products that only it reads, and whose rows have the same length, one
/// reduction replaces it. Returns whether it was such a loop.
pub fn added(pass: &mut Pass) -> bool {
    let Some(Stmt { op: Op::Loop { to, body, .. }, site }) = pass.open.last().and_then(|(_, open)| open.last()) else {
        return false;
    };
    let ([to], [result], site) = (&to[..], &body.results[..], *site) else { return false };
    let (to, summands) = (*to, summands(body, *result));
    let dims = pass.facts.dims(to);
    let arrays: Option<Vec<ArrayId>> =
        summands.iter().map(|r| whole_array(body, *r).filter(|a| pass.facts.dims(*a) == dims)).collect();
    let Some(arrays) = arrays.filter(|arrays| arrays.len() > 1) else { return false };
    let rows: Option<Vec<Reduction>> = arrays
        .iter()
        .map(|a| {
            let rows = pass.reduction(*a, 1)?.0;
            let terms = StridedProduct::terms_of_rows(dims.len(), rows)?;
            (rows.initial_zero().is_some() && terms.iter().any(StridedProduct::divides)).then(|| rows.clone())
        })
        .collect();
    let Some(rows) = rows else { return false };
    let lengths: Vec<_> = rows.iter().map(|r| pass.preview(&r.len, &[]).values.pop().flatten()).collect();
    let Some(len) = lengths[0].clone().filter(|_| lengths.iter().all(|n| *n == lengths[0])) else { return false };
    if arrays.iter().any(|a| !pass.facts.are_known_without(*a, &[&dims[..], std::slice::from_ref(&len)].concat())) {
        return false;
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
    let Some(sum) = terms.into_iter().reduce(add) else { return false };
    let first = rows[0].clone();
    let Some(init) = first.init else { return false };
    let sum = NewReduction { element: b.finish(vec![sum]), init, op: first.op, monoid: first.monoid };
    pass.open.last_mut().into_iter().for_each(|(_, open)| _ = open.pop());
    pass.known.producers.remove(&to);
    pass.reduce(to, dims, len, sum, site);
    true
}
