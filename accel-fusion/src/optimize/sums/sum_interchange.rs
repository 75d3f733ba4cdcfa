//! Sum interchange: sums factors before it multiplies them.
//!
//! NOTE [Sum interchange]: `Σ_n Σ_i f(k, i, j) g(n, k, i) = Σ_i f(k, i, j) (Σ_n g(n, k, i))`. The left side multiplies
//! every `g` once for each j; the right side multiplies only the sum. This divides the work by the number of n, and the
//! inner sums of the left side are not stored. Such sums are the adjoint of an array that was repeated before a matrix
//! product: the gradient by the bias of a layer, or by the mean of a normal distribution. The bound of the rounding
//! error stays the same. Where an `f` is infinite, neither side is finite, but the left side is NaN if one of the `g` is
//! 0, and the right side may be infinite. It pays if an index of the inner sums does not occur in `g`. It is the same for sums of
//! several products, such as the tangents of products, if it pays for each of them. The inner sums
//! disappear if all their consumers are such sums. There must be at least one n: otherwise the sums of `g` are 0, and 0
//! times an infinite `f` is not 0.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::contraction::{factors, terms};
use crate::kernel::dead_code::{defined, restricted_to};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Reduction, Reg, ScalarFn, SiteId, is_permutation};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Ranges;
use crate::optimize::fuse::fused_program::{NewReduction, Pass};
use crate::optimize::scalar::recomputation::MAX_READS;
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
    let Some(zero) = inner.initial_zero() else { return false };
    let Some(terms) = Term::all(&inner, outer.summed) else { return false };
    let Some(Some(inner_len)) = pass.preview(&inner.len, &[]).values.pop() else { return false };
    let all = [pass.facts.dims(outer.array), vec![inner_len.clone()]].concat();
    let is_one = |pass: &mut Pass, assume: bool| pass.is_inside(Some(&Poly::default()), len, Ranges::default(), assume);
    if !pass.facts.are_known_without(outer.array, &all) || !is_one(pass, false) {
        return false;
    }
    is_one(pass, true);

    // The factors that depend on the outer sum's index are summed, for all other indices that they depend on.
    let totals: Vec<ArrayId> = terms
        .iter()
        .map(|term| {
            let extents: Vec<Poly> = term.kept.iter().map(|k| all[*k].clone()).collect();
            let info = ArrayInfo { rank: term.kept.len(), columns: vec![zero.ty()] };
            let total = pass.array(info, extents.clone());
            let mut b = Builder::new(&index_types(term.kept.len() + 1));
            let place = |k: usize| term.kept.iter().position(|x| *x == k).unwrap_or(term.kept.len());
            let args: Vec<Reg> = (0..all.len()).map(|k| Reg::new(place(k))).collect();
            let element = product(&mut b, None, &inner.element, &term.summed, &args);
            let mut nothing = Builder::new(&[]);
            let init = nothing.constant(zero);
            let reduction = NewReduction {
                element: b.finish(vec![element]),
                init: nothing.finish(vec![init]),
                op: rows.op.clone(),
                monoid: rows.monoid,
            };
            pass.reduce(total, extents, len.clone(), reduction, inner_site);
            total
        })
        .collect();

    // The sums are multiplied by the other factors. These do not depend on the outer sum's index, so any value can take
    // its place.
    let mut b = Builder::new(&index_types(dims.len() + 1));
    let last = Reg::new(dims.len());
    let args: Vec<Reg> = outer.index.iter().map(|p| (*p).min(last)).chain([last]).collect();
    let mut sum = None;
    for (term, total) in terms.iter().zip(totals) {
        let factor = b.reg(zero.ty());
        let index = term.kept.iter().map(|k| args[*k]).collect();
        b.emit(Instr::Read { to: vec![factor], array: total, index, site, inside: true });
        let product = product(&mut b, Some(factor), &inner.element, &term.others, &args);
        let to = b.reg(zero.ty());
        sum = match (sum, term.minus) {
            (None, false) => Some(product),
            (None, true) => {
                b.emit(Instr::Op1(to, Op1::Num(Num1::Neg), product));
                Some(to)
            }
            (Some(sum), minus) => {
                let op = if minus { Num2::Sub } else { Num2::Add };
                b.emit(Instr::Op2(to, Op2::Num(op), sum, product));
                Some(to)
            }
        };
    }
    let Some(sum) = sum else { return false };
    let element = outer.steps.iter().rev().fold(sum, |x, step| step.emit(&mut b, x, zero.ty()));
    let reduction = NewReduction { element: b.finish(vec![element]), init, op: rows.op.clone(), monoid: rows.monoid };
    pass.reduce(to, dims.to_vec(), inner_len, reduction, site);
    true
}

/// A sum of the elements of an array, after linear functions of them.
pub(crate) struct OuterSum {
    pub(crate) array: ArrayId,
    /// For each dimension, the parameter that is its index.
    pub(crate) index: Vec<Reg>,
    /// The dimension that is summed.
    summed: usize,
    /// The linear functions applied to an element, the last one first.
    pub(crate) steps: Vec<Step>,
}

/// A linear function.
pub(crate) enum Step {
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
    pub(crate) fn of(rows: &Reduction) -> Option<OuterSum> {
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

/// A product in a sum of sums of products.
struct Term {
    /// Whether it is subtracted.
    minus: bool,
    /// The factors that depend on the index to be summed first, and all the other indices that they depend on.
    summed: Vec<Reg>,
    kept: Vec<usize>,
    /// The other factors.
    others: Vec<Reg>,
}

impl Term {
    /// The terms, if it pays for all of them to sum those factors first that depend on `index`.
    fn all(rows: &Reduction, index: usize) -> Option<Vec<Term>> {
        let terms = terms(&rows.element, rows.float_sum()?);
        let of = |(r, minus)| Term::of(&rows.element, r, minus, index);
        terms.into_iter().map(of).collect::<Option<Vec<_>>>().filter(|terms| !terms.is_empty())
    }

    fn of(code: &ScalarFn, r: Reg, minus: bool, index: usize) -> Option<Term> {
        let (factors, scalars) = factors(code, r)?;
        let (summed, others): (Vec<_>, Vec<_>) =
            factors.into_iter().partition(|(indices, _)| indices.contains(&Reg::new(index)));
        let kept: BTreeSet<usize> = summed.iter().flat_map(|(indices, _)| indices).map(|r| r.index()).collect();
        let mut outer = 0..code.params - 1;
        let pays = !summed.is_empty() && outer.any(|k| !kept.contains(&k));
        let all = |factors: Vec<(_, Reg)>| factors.into_iter().map(|f| f.1);
        pays.then(|| Term {
            minus,
            kept: kept.into_iter().filter(|k| *k != index).collect(),
            summed: all(summed).collect(),
            others: scalars.into_iter().chain(all(others)).collect(),
        })
    }
}

/// The product of `first` and registers of a scalar function with these arguments.
fn product(b: &mut Builder, first: Option<Reg>, code: &ScalarFn, factors: &[Reg], args: &[Reg]) -> Reg {
    let factors = b.inline(&restricted_to(code, factors.to_vec()), args);
    b.product(code.types[code.results[0]], first.into_iter().chain(factors)).expect("there is a factor")
}
