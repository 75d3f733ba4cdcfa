//! Sum interchange: sums factors before it multiplies them.
//!
//! NOTE [Sum interchange]: `Σ_n Σ_i f(k, i, j) g(n, k, i) = Σ_i f(k, i, j) (Σ_n g(n, k, i))`. The left side multiplies
//! every `g` once for each j; the right side multiplies only the sum. This divides the work by the number of n, and the
//! inner sums of the left side are not stored. Such sums are the adjoint of an array that was repeated before a matrix
//! product: the gradient by the bias of a layer, or by the mean of a normal distribution. The bound of the rounding
//! error stays the same. Where an `f` is infinite, neither side is finite, but the left side is NaN if one of the `g` is
//! 0, and the right side may be infinite. It pays if an index of the inner sums does not occur in `g`. The inner sums
//! disappear if all their consumers are such sums. There must be at least one n: otherwise the sums of `g` are 0, and 0
//! times an infinite `f` is not 0.

use super::fused_program::{NewReduction, Pass};
use super::poly::Poly;
use super::recomputation::MAX_READS;
use super::shape_analysis::Ranges;
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::contraction::factors;
use crate::kernel::dead_code::{defined, restricted_to};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Reduction, Reg, ScalarFn, SiteId, is_permutation};
use accel_core::repr::op::{Num1, Num2, Op1, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::BTreeSet;

/// If these rows are sums of sums of products, and the interchange pays, emits the statements that compute their sum to
/// `to`. Returns whether it did. `dims` are the outer extents, `len` is the length of the rows.
pub fn sum_of_sums(pass: &mut Pass, to: ArrayId, dims: &[Poly], len: &Poly, rows: &Reduction, site: SiteId) -> bool {
    let Some((outer, init)) = OuterSum::of(rows).zip(rows.init.clone()) else { return false };
    let Some((inner, inner_site)) = pass.reduction(outer.array, MAX_READS).map(|(rows, site)| (rows.clone(), site))
    else {
        return false;
    };
    let Some(parts) = Factors::of(&inner, outer.summed) else { return false };
    let Some(Some(inner_len)) = pass.preview(&inner.len, &[]).values.pop() else { return false };
    let all = [pass.facts.dims(outer.array), vec![inner_len.clone()]].concat();
    let is_one = |pass: &mut Pass, assume: bool| pass.is_inside(Some(&Poly::default()), len, Ranges::default(), assume);
    if !pass.facts.are_known_without(outer.array, &all) || !is_one(pass, false) {
        return false;
    }
    is_one(pass, true);

    // The factors that depend on the outer sum's index are summed, for all other indices that they depend on.
    let kept: Vec<usize> = parts.indices.iter().copied().filter(|k| *k != outer.summed).collect();
    let extents: Vec<Poly> = kept.iter().map(|k| all[*k].clone()).collect();
    let total = pass.array(ArrayInfo { rank: kept.len(), columns: vec![parts.zero.ty()] }, extents.clone());
    let mut b = Builder::new(&index_types(kept.len() + 1));
    let place = |k: usize| kept.iter().position(|x| *x == k).unwrap_or(kept.len());
    let args: Vec<Reg> = (0..all.len()).map(|k| Reg::new(place(k))).collect();
    let element = product(&mut b, None, &inner.element, &parts.summed, &args);
    let mut nothing = Builder::new(&[]);
    let zero = nothing.constant(parts.zero);
    let reduction = |b: Builder, element, init| {
        let element = b.finish(vec![element]);
        NewReduction { element, init, op: rows.op.clone(), monoid: rows.monoid }
    };
    pass.reduce(total, extents, len.clone(), reduction(b, element, nothing.finish(vec![zero])), inner_site);

    // The sums are multiplied by the other factors. These do not depend on the outer sum's index, so any value can take
    // its place.
    let mut b = Builder::new(&index_types(dims.len() + 1));
    let last = Reg::new(dims.len());
    let args: Vec<Reg> = outer.index.iter().map(|p| (*p).min(last)).chain([last]).collect();
    let sum = b.reg(parts.zero.ty());
    let index = kept.iter().map(|k| args[*k]).collect();
    b.emit(Instr::Read { to: vec![sum], array: total, index, site, inside: true });
    let product = product(&mut b, Some(sum), &inner.element, &parts.others, &args);
    let element = outer.steps.iter().rev().fold(product, |x, step| step.emit(&mut b, x, parts.zero.ty()));
    pass.reduce(to, dims.to_vec(), inner_len, reduction(b, element, init), site);
    true
}

/// A sum of the elements of an array, after linear functions of them.
pub(super) struct OuterSum {
    pub(super) array: ArrayId,
    /// For each dimension, the parameter that is its index.
    pub(super) index: Vec<Reg>,
    /// The dimension that is summed.
    summed: usize,
    /// The linear functions applied to an element, the last one first.
    pub(super) steps: Vec<Step>,
}

/// A linear function.
pub(super) enum Step {
    Neg,
    Times(Scalar),
}

impl Step {
    fn emit(&self, b: &mut Builder, x: Reg, t: ScalarType) -> Reg {
        let factor = match self {
            Step::Neg => None,
            Step::Times(factor) => Some(b.constant(*factor)),
        };
        let to = b.reg(t);
        b.emit(match factor {
            None => Instr::Op1(to, Op1::Num(Num1::Neg), x),
            Some(factor) => Instr::Op2(to, Op2::Num(Num2::Mul), x, factor),
        });
        to
    }
}

impl OuterSum {
    pub(super) fn of(rows: &Reduction) -> Option<OuterSum> {
        let code = &rows.element;
        let mut r = rows.float_sum()?;
        let constant = |r: Reg| match defined(code, r) {
            Some(Instr::Const(_, x)) => Some(*x),
            _ => None,
        };
        let mut steps = vec![];
        loop {
            match defined(code, r)? {
                Instr::Op1(_, Op1::Num(Num1::Neg), a) => {
                    steps.push(Step::Neg);
                    r = *a;
                }
                Instr::Op2(_, Op2::Num(Num2::Mul), a, b) => {
                    let (factor, next) = constant(*a).map(|x| (x, *b)).or_else(|| Some((constant(*b)?, *a)))?;
                    steps.push(Step::Times(factor));
                    r = next;
                }
                Instr::Read { to, array, index, inside: true, .. } if to.len() == 1 => {
                    let summed = index.iter().position(|p| *p + 1 == code.params)?;
                    let outer = OuterSum { array: *array, index: index.clone(), summed, steps };
                    return is_permutation(index, code.params).then_some(outer);
                }
                _ => return None,
            }
        }
    }
}

/// The factors of a sum of products.
struct Factors {
    /// The factors that depend on the index to be summed first, and all the indices that they depend on.
    summed: Vec<Reg>,
    indices: BTreeSet<usize>,
    /// The other factors.
    others: Vec<Reg>,
    /// The initial value of the sum.
    zero: Scalar,
}

impl Factors {
    /// The factors, if it pays to sum those first that depend on `index`.
    fn of(rows: &Reduction, index: usize) -> Option<Factors> {
        let zero = rows.initial_zero()?;
        let (factors, others) = factors(&rows.element, rows.float_sum()?)?;
        let mut parts = Factors { summed: vec![], indices: BTreeSet::new(), others, zero };
        for (indices, r) in factors {
            if indices.contains(&Reg::new(index)) {
                parts.summed.push(r);
                parts.indices.extend(indices.into_iter().map(Reg::index));
            } else {
                parts.others.push(r);
            }
        }
        let mut outer = 0..rows.element.params - 1;
        let pays = !parts.summed.is_empty() && outer.any(|k| !parts.indices.contains(&k));
        pays.then_some(parts)
    }
}

/// The product of `first` and registers of a scalar function with these arguments.
fn product(b: &mut Builder, first: Option<Reg>, code: &ScalarFn, factors: &[Reg], args: &[Reg]) -> Reg {
    let factors = b.inline(&restricted_to(code, factors.to_vec()), args);
    b.product(code.types[code.results[0]], first.into_iter().chain(factors)).expect("there is a factor")
}
