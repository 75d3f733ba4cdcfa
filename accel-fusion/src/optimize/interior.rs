//! Interiors: the part of an index space in which elements need no special rules for edges.
//!
//! NOTE [Interiors]: the elements of a stencil clamp their indices, or compare them with extents, because of the elements at
//! the edges. These decisions cost more than the arithmetic, and they keep compilers from using vectors. But along the last
//! dimension, nearly all elements decide in the same way: `max(i - 1, 0)` is `i - 1`, and `i + 1 < n` is true. So a loop can
//! compute the elements in the interior without the decisions, and only those at the edges with them. A decision belongs to
//! an edge if it changes at a constant number of elements from the start or from the end of an extent. If this is the extent of
//! another array, as in a concatenation, there can be many elements behind the edge. If all decisions change at the same place,
//! they are known there, too.

use super::poly::{Poly, Sym};
use super::row_decisions::{RowDecisions, row_decisions};
use super::scalar_cleanup::{ExecutionCount, NoProducers, clean, code_of};
use super::shape_analysis::Facts;
use crate::kernel::builder::Builder;
use crate::kernel::{Instr, Program, Reg, ScalarFn, walk, walk_mut};
use accel_core::repr::op::{Cmp, Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::{BTreeSet, HashMap};

/// The largest distance of an edge from the start or the end.
const WIDEST_EDGE: u64 = 64;
/// Scalar functions with more instructions are not computed in two versions.
const MOST_INSTRS: usize = 400;

/// A scalar function of an index, for the indices in the interior.
pub struct Interior {
    /// The function there, with the same parameters.
    pub code: ScalarFn,
    /// The first index along the last dimension.
    pub first: i64,
    /// The index after the last one, as a function without parameters. If there is none, the interior has no end.
    pub end: Option<ScalarFn>,
    /// The function behind the interior, if it is known there.
    pub behind: Option<ScalarFn>,
    /// The decisions in the interior that are the same for a whole row.
    pub rows: Option<RowDecisions>,
}

/// The interior along the last one of `rank` dimensions, if there are edges.
pub fn interior(program: &Program, code: &ScalarFn, rank: usize) -> Option<Interior> {
    if rank == 0 || walk(&code.instrs).count() > MOST_INSTRS {
        return None;
    }
    let forms = forms(code, rank);
    let (mut first, mut ends, mut decisions) = (0, BTreeSet::new(), HashMap::new());
    let mut known_behind = true;
    for i in walk(&code.instrs) {
        let Instr::Op2(to, op, a, b) = i else { continue };
        let Some(difference) = forms.get(a).zip(forms.get(b)).and_then(|(a, b)| a.minus_exactly(b)) else { continue };
        let Some(edge) = edge(&difference, Sym::Param(rank - 1)) else { continue };
        let Some(strict) = decision(i, edge.more).map(|d| d.strict) else { continue };
        let at_end = matches!(edge.at, At::End(_));
        known_behind &= !at_end || !matches!(op, Op2::Cmp(Cmp::Eq | Cmp::Ne));
        decisions.insert(*to, (edge.more, at_end));
        match edge.at {
            At::Start(at) => first = first.max(at + i64::from(strict)),
            At::End(at) => _ = ends.insert(at.plus_constant(i64::from(!strict))),
        }
    }
    if decisions.is_empty() {
        return None;
    }
    let mut facts = Facts::new(program, false);
    let ranges: Vec<Poly> = (0..rank).map(|_| facts.unknown()).collect();
    let mut decided = |behind: bool| {
        let decide = |r: Reg| decisions.get(&r).map(|(more, at_end)| *more != (behind && *at_end));
        let code = with_decisions(code, decide);
        clean(&mut facts, &NoProducers, &code, &ranges, ExecutionCount::Maybe).code
    };
    let known_behind = known_behind && first == 0 && ends.len() == 1;
    let (code, behind) = (decided(false), known_behind.then(|| decided(true)));
    let (mut b, all) = Builder::after(code_of(&mut facts, &Vec::from_iter(ends)));
    let end = all.into_iter().reduce(|x, y| b.index_op(Num2::Min, x, y));
    let rows = row_decisions(&mut facts, &code, &ranges);
    Some(Interior { code, first, end: end.map(|end| b.finish(vec![end])), behind, rows })
}

/// The outcome of a comparison, a minimum or a maximum.
pub(super) struct Decision {
    pub(super) outcome: Outcome,
    /// Whether it needs operands that differ.
    strict: bool,
}

pub(super) enum Outcome {
    Bool(bool),
    Operand(Reg),
}

/// The outcome if the first operand is the larger one (`more`), or else the smaller one.
pub(super) fn decision(i: &Instr, more: bool) -> Option<Decision> {
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

/// The function with the outcomes of those instructions for which `more` is known.
pub(super) fn with_decisions(code: &ScalarFn, more: impl Fn(Reg) -> Option<bool>) -> ScalarFn {
    let mut code = code.clone();
    let zero = code.types.push(ScalarType::I64);
    let mut instrs = std::mem::take(&mut code.instrs);
    walk_mut(&mut instrs, |i| {
        let Some((to, more)) = i.sets().first().and_then(|to| Some((*to, more(*to)?))) else { return };
        match decision(i, more).map(|d| d.outcome) {
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
pub(super) fn forms(code: &ScalarFn, rank: usize) -> HashMap<Reg, Poly> {
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
        // Indices and extents are below 2^48, so such small sums of them do not wrap.
        let form = form.filter(|p| {
            p.is_small() && p.terms().all(|(syms, n)| n.unsigned_abs() <= 1 << (32 - 16 * syms.len().min(2)))
        });
        forms.extend(form.map(|p| (*to, p)));
    }
    forms
}

/// Where a difference changes its sign, and whether it is positive in the interior.
pub(super) struct Edge {
    at: At,
    pub(super) more: bool,
}

/// The value of an index at which a difference is 0.
pub(super) enum At {
    Start(i64),
    End(Poly),
}

pub(super) fn edge(difference: &Poly, index: Sym) -> Option<Edge> {
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
