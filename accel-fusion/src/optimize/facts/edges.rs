//! Decisions at edges: comparisons, minima and maxima of sums of indices, extents and constants that change their outcome at
//! a constant distance from the start or from the end of an extent.

use crate::kernel::builder::Builder;
use crate::kernel::{Instr, Reg, ScalarFn, walk, walk_mut};
use crate::optimize::facts::poly::{Poly, Sym};
use accel_core::repr::op::{Cmp, Logic, Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

/// The largest distance of an edge from the start or the end. Wider ones leave no interior in short rows. Chosen.
const WIDEST_EDGE: u64 = 64;

/// The outcome of a comparison, a minimum or a maximum.
pub(crate) struct Decision {
    pub(crate) outcome: Outcome,
    /// Whether it needs operands that differ.
    pub(crate) strict: bool,
}

pub(crate) enum Outcome {
    Bool(bool),
    Operand(Reg),
}

/// The outcome if the first operand is the larger one (`more`), or else the smaller one.
pub(crate) fn decision(i: &Instr, more: bool) -> Option<Decision> {
    let Instr::Op2(_, op, a, b) = i else { return None };
    let (outcome, strict) = match op {
        Op2::Num(Num2::Max) => (Outcome::Operand(if more { *a } else { *b }), false),
        Op2::Num(Num2::Min) => (Outcome::Operand(if more { *b } else { *a }), false),
        Op2::Cmp(Cmp::Lt) => (Outcome::Bool(!more), !more),
        Op2::Cmp(Cmp::Le) => (Outcome::Bool(!more), more),
        Op2::Cmp(Cmp::Gt) => (Outcome::Bool(more), more),
        Op2::Cmp(Cmp::Ge) => (Outcome::Bool(more), !more),
        Op2::Cmp(Cmp::Eq) => (Outcome::Bool(false), true),
        Op2::Cmp(Cmp::Ne) => (Outcome::Bool(true), true),
        _ => return None,
    };
    Some(Decision { outcome, strict })
}

/// The outcome for operands in this order.
fn outcome(i: &Instr, order: Ordering) -> Option<Outcome> {
    match (i, order) {
        (Instr::Op2(_, Op2::Cmp(cmp), ..), Ordering::Equal) => {
            Some(Outcome::Bool(matches!(cmp, Cmp::Le | Cmp::Ge | Cmp::Eq)))
        }
        _ => decision(i, order == Ordering::Greater).map(|d| d.outcome),
    }
}

/// The function with the outcomes of those instructions whose operands have a known order.
pub(crate) fn with_decisions(code: &ScalarFn, order: impl Fn(Reg) -> Option<Ordering>) -> ScalarFn {
    let mut code = code.clone();
    let zero = code.types.push(ScalarType::I64);
    let mut instrs = std::mem::take(&mut code.instrs);
    walk_mut(&mut instrs, |i| {
        let Some((to, order)) = i.sets().first().and_then(|to| Some((*to, order(*to)?))) else { return };
        match outcome(i, order) {
            Some(Outcome::Bool(x)) => *i = Instr::Const(to, Scalar::Bool(x)),
            // The sum with 0 is the operand.
            Some(Outcome::Operand(x)) => *i = Instr::Op2(to, Op2::Num(Num2::Add), x, zero),
            None => {}
        }
    });
    code.instrs = [vec![Instr::Const(zero, Scalar::I64(0))], instrs].concat();
    code
}

/// The integers that are sums of indices, extents and constants.
pub(crate) fn forms(code: &ScalarFn, rank: usize) -> HashMap<Reg, Poly> {
    let mut forms: HashMap<Reg, Poly> = (0..rank).map(|k| (Reg::new(k), Poly::sym(Sym::Param(k)))).collect();
    for i in walk(&code.instrs) {
        let (to, form) = match i {
            Instr::Const(to, Scalar::I64(n)) => (to, Some(Poly::constant(*n))),
            Instr::Extent(to, array, dim) => (to, Some(Poly::sym(Sym::Extent(*array, *dim)))),
            Instr::Op2(to, Op2::Num(op @ (Num2::Add | Num2::Sub)), a, b) => {
                let operands = forms.get(a).zip(forms.get(b));
                let sum = |(a, b): (&Poly, &Poly)| {
                    if *op == Num2::Add { a.plus_exactly(b) } else { a.minus_exactly(b) }
                };
                (to, operands.and_then(sum))
            }
            _ => continue,
        };
        // Indices and extents are at most 2^48, so sums of 24 small multiples of them do not wrap.
        let form = form.filter(|p| {
            p.is_small() && p.terms().all(|(syms, n)| n.unsigned_abs() <= [1 << 32, 1 << 8, 1][syms.len().min(2)])
        });
        forms.extend(form.map(|p| (*to, p)));
    }
    forms
}

/// Computes a sum of products of parameters, extents and constants.
pub(crate) fn sum(b: &mut Builder, p: &Poly) -> Reg {
    let mut sum = None;
    for (syms, n) in p.terms() {
        let factors = syms.iter().map(|s| match s {
            Sym::Param(k) => Reg::new(*k),
            Sym::Extent(array, dim) => b.extent(*array, *dim),
            Sym::Node(_) => unreachable!("forms have no nodes"),
        });
        let mut factors: Vec<Reg> = factors.collect();
        if n != 1 || factors.is_empty() {
            factors.push(b.constant(Scalar::I64(n)));
        }
        let term = b.product(ScalarType::I64, factors);
        sum = sum.into_iter().chain(term).reduce(|x, y| b.index_op(Num2::Add, x, y));
    }
    sum.unwrap_or_else(|| b.constant(Scalar::I64(0)))
}

/// The instructions of a function that compute its [`forms`], and others if `also` holds.
pub(crate) fn sums(code: &ScalarFn, forms: &HashMap<Reg, Poly>, also: impl Fn(&Instr) -> bool) -> ScalarFn {
    let mut sums = code.clone();
    sums.instrs.retain(|i| match i {
        Instr::Const(to, _) | Instr::Extent(to, ..) | Instr::Op2(to, ..) if forms.contains_key(to) => true,
        i => also(i),
    });
    sums
}

/// Finishes a function whose result is whether all of these comparisons hold; `None` without any.
pub(crate) fn all_hold(mut b: Builder, tests: &[(Cmp, Reg, Reg)]) -> Option<ScalarFn> {
    let mut emit = |op: Op2, x: Reg, y: Reg| {
        let to = b.reg(ScalarType::Bool);
        b.emit(Instr::Op2(to, op, x, y));
        to
    };
    let mut all = None;
    for (cmp, x, y) in tests {
        let holds = emit(Op2::Cmp(*cmp), *x, *y);
        all = Some(all.map_or(holds, |all| emit(Op2::Logic(Logic::And), all, holds)));
    }
    Some(b.finish(vec![all?]))
}

/// An instruction whose outcome changes at an edge.
pub(crate) struct EdgeDecision<'c> {
    pub(crate) instr: &'c Instr,
    pub(crate) to: Reg,
    /// The difference of its operands.
    pub(crate) difference: Poly,
    pub(crate) edge: Edge,
    /// The outcome in the interior.
    pub(crate) decision: Decision,
}

/// The instructions whose outcomes change at an edge along one of these dimensions of the index.
pub(crate) fn edge_decisions<'c>(
    instrs: impl Iterator<Item = &'c Instr>,
    forms: &HashMap<Reg, Poly>,
    dims: Range<usize>,
) -> impl Iterator<Item = EdgeDecision<'c>> {
    instrs.filter_map(move |instr| {
        let Instr::Op2(to, _, a, b) = instr else { return None };
        let difference = forms.get(a)?.minus_exactly(forms.get(b)?)?;
        let edge = dims.clone().find_map(|d| edge(&difference, Sym::Param(d)))?;
        let decision = decision(instr, edge.more)?;
        Some(EdgeDecision { instr, to: *to, difference, edge, decision })
    })
}

/// Where a difference changes its sign, and whether it is positive in the interior.
pub(crate) struct Edge {
    pub(crate) at: At,
    pub(crate) more: bool,
}

impl Edge {
    /// The order of the operands in the interior.
    pub(crate) fn order(&self) -> Ordering {
        if self.more { Ordering::Greater } else { Ordering::Less }
    }
}

/// The value of an index at which a difference is 0.
pub(crate) enum At {
    Start(i64),
    End(Poly),
}

fn edge(difference: &Poly, index: Sym) -> Option<Edge> {
    let (slope, rest) = difference.linear(index)?;
    let rises = match slope.as_constant() {
        Some(1) => true,
        Some(-1) => false,
        _ => return None,
    };
    let at = if rises { Poly::default().minus_exactly(&rest)? } else { rest };
    let (mut extents, mut distance) = (0, 0);
    for (syms, n) in at.terms() {
        match syms {
            [] => distance = n,
            [Sym::Extent(..)] if n == 1 => extents += 1,
            _ => return None,
        }
    }
    (extents <= 1 && distance.unsigned_abs() <= WIDEST_EDGE).then_some(())?;
    let at = if extents == 0 { At::Start(distance) } else { At::End(at) };
    let more = rises == matches!(at, At::Start(_));
    Some(Edge { at, more })
}
