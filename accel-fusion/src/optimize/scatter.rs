//! Index-function analysis: turns scatters with known targets into gathers and reductions.
//!
//! NOTE [Scatters as reductions]: let `target(i_0, .., i_m) = (e_0, .., e_r)` for all source elements. Suppose that
//! every `e_j` is either one index plus or minus a constant with respect to indices (`c_j + i_k` or `c_j - i_k`, all k
//! different), or does not depend on indices at all. Then an element of the target knows its source elements: those
//! with `i_k = t_j - c_j` (or `c_j - t_j`), for all values of the indices that no `e_j` contains. So the scatter is a
//! reduction over these indices, if there are any, followed by a loop over the target. No two threads write to the same
//! place. This covers the adjoints of `replicate` (a sum over the repeated dimensions), of `slice`, of `backpermute`
//! along projections (a gather), and of a scalar that is read in a loop (a sum over everything).
//!
//! NOTE [Diagonal scatters]: if only elements with two equal indices have a target, the other elements need not be
//! visited. The scatter then loses one of the two dimensions. This is the adjoint of a matrix with a special rule on
//! its diagonal.

use super::fused_program::{NewReduction, Pass};
use super::poly::{Poly, Sym};
use super::scalar_cleanup::code_of;
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Monoid, Op, Reg, ScalarFn, SiteId};
use accel_core::ast::deep;
use accel_core::repr::op::{Cmp, Logic, Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::BTreeSet;

/// A `Permute` statement with cleaned extents.
pub struct Permute<'a> {
    /// The array defined.
    pub to: ArrayId,
    /// The initial elements.
    pub defaults: ArrayId,
    /// The extents of the source as a scalar function.
    pub extents: ScalarFn,
    /// The extents of the source as values.
    pub source: Vec<Poly>,
    /// The target of each source element.
    pub target: &'a ScalarFn,
    /// The elements.
    pub element: &'a ScalarFn,
    /// The operator.
    pub comb: &'a ScalarFn,
    /// Its monoid, if recognised.
    pub monoid: Option<Monoid>,
}

/// One dimension of the target: `offset + i_k`, `offset - i_k` or `offset`.
struct TargetDim {
    param: Option<usize>,
    reversed: bool,
    offset: Poly,
}

/// Emits a permute, or the better statements that replace it.
pub fn permute(pass: &mut Pass, p: Permute, site: SiteId) {
    let target = pass.preview(p.target, &p.source);
    if let Some((kept, other)) = diagonal(pass, &p, &target.code) {
        return diagonal_only(pass, p, kept, other, site);
    }
    pass.keep(&target);
    let places = match target.constants[0] {
        Some(Scalar::Bool(true)) => places(pass, &p, &target.values[1..]),
        _ => None,
    };
    if let Some(places) = places
        && gathered(pass, &p, &places, site)
    {
        return;
    }
    let element = pass.clean(p.element, &p.source).code;
    let comb = pass.clean(p.comb, &[]).code;
    let Permute { to, defaults, extents, monoid, .. } = p;
    pass.emit(Op::Permute { to, defaults, extents, target: target.code, element, comb, monoid }, site);
}

/// Two dimensions of the source with the same extent, if only elements with equal indices there have a target.
fn diagonal(pass: &Pass, p: &Permute, target: &ScalarFn) -> Option<(usize, usize)> {
    let (a, b) = equal(target, &target.instrs, target.results[0])?;
    let (a, b) = (a.index(), b.index());
    let known = p.source.iter().all(|n| pass.facts.is_known(n));
    (known && a != b && p.source[a] == p.source[b]).then_some((a.min(b), a.max(b)))
}

/// Two parameters that are equal whenever a condition holds.
fn equal(code: &ScalarFn, instrs: &[Instr], cond: Reg) -> Option<(Reg, Reg)> {
    let is_false = |r: Reg, inner: &[Instr]| {
        instrs.iter().chain(inner).any(|i| matches!(i, Instr::Const(to, Scalar::Bool(false)) if *to == r))
    };
    deep(|| match instrs.iter().find(|i| i.sets().contains(&cond))? {
        Instr::Op2(_, Op2::Cmp(Cmp::Eq), a, b) => [*a, *b].iter().all(|r| *r < code.params).then_some((*a, *b)),
        Instr::Op2(_, Op2::Logic(Logic::And), a, b) => equal(code, instrs, *a).or_else(|| equal(code, instrs, *b)),
        Instr::If { cond: decision, otherwise, merge, .. } => {
            let (.., if_not) = merge.iter().find(|m| m.0 == cond)?;
            is_false(*if_not, otherwise).then(|| equal(code, instrs, *decision)).flatten()
        }
        _ => None,
    })
}

/// Emits the scatter of only those elements whose index `other` equals the index `kept`.
fn diagonal_only(pass: &mut Pass, p: Permute, kept: usize, other: usize, site: SiteId) {
    let mut source = p.source.clone();
    source.remove(other);
    // The parameters are those of an index without one dimension.
    let args: Vec<Reg> =
        (0..p.source.len()).map(|k| Reg::new(if k == other { kept } else { k - usize::from(k > other) })).collect();
    let on_diagonal = |code: &ScalarFn| {
        let mut b = Builder::new(&index_types(source.len()));
        let results = b.inline(code, &args);
        b.finish(results)
    };
    let (target, element) = (on_diagonal(p.target), on_diagonal(p.element));
    let extents = code_of(&mut pass.facts, &source);
    permute(pass, Permute { extents, source, target: &target, element: &element, ..p }, site);
}

/// The dimensions of the target, if they have the form of the note and no target is out of bounds.
fn places(pass: &mut Pass, p: &Permute, target: &[Option<Poly>]) -> Option<Vec<TargetDim>> {
    let dims = pass.facts.dims(p.defaults);
    let mut used = vec![];
    let mut places = vec![];
    for e in target {
        let e = e.as_ref()?;
        let params: BTreeSet<usize> =
            e.symbols().filter_map(|s| if let Sym::Param(k) = s { Some(k) } else { None }).collect();
        let place = match Vec::from_iter(params)[..] {
            [] => TargetDim { param: None, reversed: false, offset: e.clone() },
            [k] if !used.contains(&k) => {
                let (slope, offset) = e.linear(Sym::Param(k))?;
                let reversed = match slope.as_constant() {
                    Some(1) => false,
                    Some(-1) => true,
                    _ => return None,
                };
                used.push(k);
                TargetDim { param: Some(k), reversed, offset }
            }
            _ => return None,
        };
        pass.facts.is_known(&place.offset).then_some(())?;
        places.push(place);
    }
    // A target out of bounds is an error, which a gather would not notice.
    let inside = |pass: &mut Pass, assume: bool| {
        target.iter().zip(&dims).all(|(e, n)| pass.is_inside(e.as_ref(), n, &p.source, assume))
    };
    (inside(pass, false) && inside(pass, true)).then_some(places)
}

/// Emits a loop over the target, after a reduction if one is needed.
fn gathered(pass: &mut Pass, p: &Permute, places: &[TargetDim], site: SiteId) -> bool {
    let params: Vec<usize> = places.iter().filter_map(|p| p.param).collect();
    let summed: Vec<usize> = (0..p.source.len()).filter(|k| !params.contains(k)).collect();
    let dims = pass.facts.dims(p.defaults);
    // Each value separately: the product of 0 and something unknown is known.
    if !p.source.iter().chain(&dims).all(|p| pass.facts.is_known(p)) {
        return false;
    }
    let columns = pass.program.arrays[p.to].columns.clone();
    // The elements, indexed by the parameters that the target contains, in the order of the target's dimensions.
    let elements = if summed.is_empty() {
        in_order(p, &params, None)
    } else {
        let is_whole = |(place, n): (&TargetDim, &Poly)| {
            place.param.is_some_and(|k| p.source[k] == *n) && !place.reversed && place.offset.as_constant() == Some(0)
        };
        let defaults = pass.constants(p.defaults).cloned().filter(|_| places.iter().zip(&dims).all(is_whole));
        let to = match (&defaults, p.monoid) {
            (Some(_), _) => p.to,
            (None, Some(Monoid::Sum)) if columns.len() == 1 => {
                let info = ArrayInfo { rank: params.len(), columns: columns.clone() };
                pass.array(info, params.iter().map(|k| p.source[*k].clone()).collect())
            }
            _ => return false,
        };
        let init = defaults.unwrap_or_else(|| columns.iter().map(|t| Monoid::Sum.neutral(*t)).collect());
        if !totals(pass, p, to, &params, &summed, init, site) {
            return false;
        }
        if to == p.to {
            return true;
        }
        read(to, params.len(), &columns, site)
    };
    let body = body(pass, p, places, &elements, &columns, site);
    let extents = code_of(&mut pass.facts, &dims);
    pass.loop_(&[p.to], extents, dims, &body, site);
    true
}

/// Emits the reduction over the parameters `summed`, with an initial value. Returns whether this is possible.
fn totals(
    pass: &mut Pass,
    p: &Permute,
    to: ArrayId,
    params: &[usize],
    summed: &[usize],
    init: Vec<Scalar>,
    site: SiteId,
) -> bool {
    let facts = &mut pass.facts;
    let product = |n: Poly, k: &usize| facts.product_of_extents(&n, &p.source[*k]).filter(|n| facts.is_known(n));
    let Some(len) = summed.iter().try_fold(Poly::constant(1), product) else { return false };
    let extents: Vec<ScalarFn> =
        summed.iter().map(|k| code_of(&mut pass.facts, std::slice::from_ref(&p.source[*k]))).collect();
    let element = in_order(p, params, Some((summed, &extents)));
    let mut b = Builder::new(&[]);
    let results = init.into_iter().map(|x| b.constant(x)).collect();
    let rows = NewReduction { element, init: b.finish(results), op: p.comb.clone(), monoid: p.monoid };
    pass.reduce(to, params.iter().map(|k| p.source[*k].clone()).collect(), len, rows, site);
    true
}

/// From an index within bounds to the element of an array.
fn read(array: ArrayId, rank: usize, columns: &[ScalarType], site: SiteId) -> ScalarFn {
    let mut b = Builder::new(&index_types(rank));
    let index = b.params();
    let to: Vec<Reg> = columns.iter().map(|t| b.reg(*t)).collect();
    b.emit(Instr::Read { to: to.clone(), array, index, site, inside: true });
    b.finish(to)
}

/// The element function with its parameters in the order of the target's dimensions. If some parameters are summed,
/// their flat position comes last.
fn in_order(p: &Permute, params: &[usize], summed: Option<(&[usize], &[ScalarFn])>) -> ScalarFn {
    let rank = params.len() + usize::from(summed.is_some());
    let mut b = Builder::new(&index_types(rank));
    let mut args = vec![Reg::NONE; p.source.len()];
    let index = b.params();
    for (k, r) in params.iter().zip(&index) {
        args[*k] = *r;
    }
    if let Some((summed, extents)) = summed {
        let mut rest = index[params.len()];
        for (position, (k, extent)) in summed.iter().zip(extents).enumerate().rev() {
            if position == 0 {
                args[*k] = rest;
            } else {
                let n = b.inline(extent, &[])[0];
                args[*k] = b.index_op(Num2::Rem, rest, n);
                rest = b.index_op(Num2::Div, rest, n);
            }
        }
    }
    let results = b.inline(p.element, &args);
    b.finish(results)
}

/// From an index of the target to its element: the default, combined with the source's element if there is one.
fn body(
    pass: &mut Pass,
    p: &Permute,
    places: &[TargetDim],
    inner: &ScalarFn,
    columns: &[ScalarType],
    site: SiteId,
) -> ScalarFn {
    let mut b = Builder::new(&index_types(places.len()));
    let t = b.params();
    let old: Vec<Reg> = columns.iter().map(|t| b.reg(*t)).collect();
    b.emit(Instr::Read { to: old.clone(), array: p.defaults, index: t.clone(), site, inside: true });
    let mut index = vec![];
    let mut conditions = vec![];
    for (t, place) in t.iter().zip(places) {
        let offset_code = code_of(&mut pass.facts, std::slice::from_ref(&place.offset));
        let offset = b.inline(&offset_code, &[])[0];
        let mut compare = |b: &mut Builder, cmp: Cmp, x: Reg, y: Reg| {
            let c = b.reg(ScalarType::Bool);
            b.emit(Instr::Op2(c, Op2::Cmp(cmp), x, y));
            conditions.push(c);
        };
        match place.param {
            None => compare(&mut b, Cmp::Eq, *t, offset),
            Some(k) => {
                let (x, y) = if place.reversed { (offset, *t) } else { (*t, offset) };
                let i = b.index_op(Num2::Sub, x, y);
                let zero = b.constant(Scalar::I64(0));
                let extent = code_of(&mut pass.facts, std::slice::from_ref(&p.source[k]));
                let n = b.inline(&extent, &[])[0];
                compare(&mut b, Cmp::Ge, i, zero);
                compare(&mut b, Cmp::Lt, i, n);
                index.push(i);
            }
        }
    }
    let all = conditions.into_iter().reduce(|x, y| {
        let c = b.reg(ScalarType::Bool);
        b.emit(Instr::Op2(c, Op2::Logic(Logic::And), x, y));
        c
    });
    let cond = all.unwrap_or_else(|| b.constant(Scalar::Bool(true)));
    let (then, new) = b.block(|b| {
        let x = b.inline(inner, &index);
        b.inline(p.comb, &[x, old.clone()].concat())
    });
    let merge: Vec<(Reg, Reg, Reg)> =
        columns.iter().zip(new.iter().zip(&old)).map(|(t, (new, old))| (b.reg(*t), *new, *old)).collect();
    let results = merge.iter().map(|m| m.0).collect();
    b.emit(Instr::If { cond, then, otherwise: vec![].into(), merge });
    b.finish(results)
}
