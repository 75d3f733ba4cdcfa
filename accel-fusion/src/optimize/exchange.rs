//! Sums of sums of products that change places.
//!
//! NOTE [Sums that change places]: `Σ_n Σ_i f(k, i, j) g(n, k, i) = Σ_i f(k, i, j) (Σ_n g(n, k, i))`. On the left side every `g` is multiplied
//! once for each j, on the right side its sum is: less work by the number of n, and the inner sums of the left side are not stored.
//! This is the adjoint of what has been repeated before it was multiplied by a matrix: the gradient by the bias of a layer, by the mean of
//! a normal distribution. The bound of the rounding error is that of the left side. It pays where an index of the inner sums does not
//! occur in `g`; the inner sums go if all that read them are such sums. There must be an n: the sums of `g` are 0 otherwise, and 0
//! times an infinite `f` is not.

use super::cost::PLACES;
use super::pass::{Pass, Reduction, index_types};
use super::poly::Poly;
use crate::kernel::builder::Builder;
use crate::kernel::contraction::factors;
use crate::kernel::only::{defined, only};
use crate::kernel::{ArrayId, ArrayInfo, Code, Instr, Reg, Rows, SiteId, is_permutation};
use accel_core::repr::op::{Num1, Num2, Op1, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::BTreeSet;

/// Emits the sum of these rows to `to`, if it is one of sums of products that pay to be summed first. `dims` are the outer extents, `len` is
/// the length of the rows. Gives whether that was so.
pub fn sum_of_sums(pass: &mut Pass, to: ArrayId, dims: &[Poly], len: &Poly, rows: &Rows, site: SiteId) -> bool {
    let Some((outer, init)) = Outer::of(rows).zip(rows.init.clone()) else { return false };
    let Some((inner, inner_site)) = pass.reduction(outer.array, PLACES).map(|(rows, site)| (rows.clone(), site)) else {
        return false;
    };
    let Some(parts) = Parts::of(&inner, outer.summed) else { return false };
    let Some(Some(inner_len)) = pass.look(&inner.len, &[]).values.pop() else { return false };
    let all = [pass.facts.dims(outer.array), vec![inner_len.clone()]].concat();
    let is_one = |pass: &mut Pass, assume: bool| pass.is_inside(Some(&Poly::default()), len, &[], assume);
    let known = |p: &Poly| pass.facts.is_known(p) && !pass.facts.extents_in(p).contains(&outer.array);
    if !all.iter().all(known) || !is_one(pass, false) {
        return false;
    }
    is_one(pass, true);

    // What depends on the outer sum's index is summed, for all other indices that it depends on.
    let kept: Vec<usize> = parts.indices.iter().copied().filter(|k| *k != outer.summed).collect();
    let extents: Vec<Poly> = kept.iter().map(|k| all[*k].clone()).collect();
    let total = pass.array(ArrayInfo { rank: kept.len(), columns: vec![parts.zero.ty()] }, extents.clone());
    let mut b = Builder::new(&index_types(kept.len() + 1));
    let place = |k: usize| kept.iter().position(|x| *x == k).unwrap_or(kept.len());
    let args: Vec<Reg> = (0..all.len()).map(place).collect();
    let element = product(&mut b, None, &inner.element, &parts.summed, &args);
    let mut nothing = Builder::new(&[]);
    let zero = nothing.constant(parts.zero);
    let reduction = |b: Builder, element, init| {
        let element = b.finish(vec![element]);
        Reduction { element, init, op: rows.op.clone(), known: rows.known }
    };
    pass.reduce(total, extents, len.clone(), reduction(b, element, nothing.finish(vec![zero])), inner_site);

    // The sums are multiplied with the rest. The index of the outer sum does not occur there, so any does in its place.
    let mut b = Builder::new(&index_types(dims.len() + 1));
    let args: Vec<Reg> = outer.index.iter().map(|p| (*p).min(dims.len())).chain([dims.len()]).collect();
    let sum = b.reg(parts.zero.ty());
    let index = kept.iter().map(|k| args[*k]).collect();
    b.emit(Instr::Read { to: vec![sum], array: total, index, site, inside: true });
    let product = product(&mut b, Some(sum), &inner.element, &parts.others, &args);
    let element = outer.steps.iter().rev().fold(product, |x, step| step.emit(&mut b, x, parts.zero.ty()));
    pass.reduce(to, dims.to_vec(), inner_len, reduction(b, element, init), site);
    true
}

/// A sum of the elements of an array, up to numbers that they are multiplied with.
struct Outer {
    array: ArrayId,
    /// The parameter that each dimension is indexed by.
    index: Vec<Reg>,
    /// The dimension that is summed.
    summed: usize,
    /// What is done with an element, the last step first.
    steps: Vec<Step>,
}

/// A linear function.
enum Step {
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

impl Outer {
    fn of(rows: &Rows) -> Option<Outer> {
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
                    let summed = index.iter().position(|p| p + 1 == code.params)?;
                    let outer = Outer { array: *array, index: index.clone(), summed, steps };
                    return is_permutation(index, code.params).then_some(outer);
                }
                _ => return None,
            }
        }
    }
}

/// The factors of a sum of products.
struct Parts {
    /// Those that depend on the index that is to be summed first, and all the indices that they depend on.
    summed: Vec<Reg>,
    indices: BTreeSet<usize>,
    /// The others.
    others: Vec<Reg>,
    /// What the sum begins with.
    zero: Scalar,
}

impl Parts {
    /// The factors, if it pays to sum those first that depend on an index.
    fn of(rows: &Rows, index: usize) -> Option<Parts> {
        let zero = match &rows.init.as_ref()?.instrs[..] {
            [Instr::Const(_, x)] if matches!(x, Scalar::F32(0.0) | Scalar::F64(0.0)) => *x,
            _ => return None,
        };
        let (factors, others) = factors(&rows.element, rows.float_sum()?)?;
        let mut parts = Parts { summed: vec![], indices: BTreeSet::new(), others, zero };
        for (indices, r) in factors {
            if indices.contains(&index) {
                parts.summed.push(r);
                parts.indices.extend(indices);
            } else {
                parts.others.push(r);
            }
        }
        let mut outer = 0..rows.element.params - 1;
        let pays = !parts.summed.is_empty() && outer.any(|k| !parts.indices.contains(&k));
        pays.then_some(parts)
    }
}

/// The product of registers of a code with these arguments, and of a number before it.
fn product(b: &mut Builder, first: Option<Reg>, code: &Code, factors: &[Reg], args: &[Reg]) -> Reg {
    let factors = b.inline(&only(code, factors.to_vec()), args);
    b.product(code.types[code.results[0]], first.into_iter().chain(factors)).unwrap_or_default()
}
