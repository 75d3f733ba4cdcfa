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
//! NOTE [Targets of edges]: an `e_j` can also be `c_j + i_k` for all but the first or the last few `i_k`, and anything else for these, as in
//! the adjoint of a stencil whose edges are clamped (`max(c_j + i_k, b)`), mirrored or those of a ring. Then the elements to which these
//! go have further source elements. If their number is a small constant, the loop over the target combines each of
//! them, too. It combines an element with its sources in another order than that of the source, so the operator must be one of a known
//! monoid, which commutes. Where an edge goes is computed once, from extents: `rem_euclid(-1, n)` is `n - 1`, if `n` is at least
//! 1. Such assumptions are those that all large extents satisfy.
//!
//! NOTE [Conditional scatters]: often only some elements have a target, such as those before the place where an index of a
//! concatenation goes over to the other array. If the operator has a neutral element, the other elements can be replaced by it,
//! and then have a target, too: the one that the target function would give if the condition held.
//!
//! NOTE [Scatters in loops]: a step of a loop often adds to one row or one element of an array, or replaces it, at a place that differs
//! from step to step. As a gather it would visit the whole target; as a scatter, which happens in place, it visits its
//! source. So it stays one.
//!
//! NOTE [Targets within bounds]: where an extent is a computed number, nobody knows before the program runs whether all targets are
//! within bounds. The dimensions of the note have their extreme values at two corners of the source, so a condition on extents
//! decides it: if it holds, the statement is the reduction, else the scatter, which finds the error. This pays if several elements
//! have the same target. So the sum of a matrix of `the(n)` rows is differentiated without this matrix in memory.
//!
//! NOTE [Offsets that divide]: the target function runs for elements of the source only, `c_j` in a gather for all elements of the
//! target. If there is no source element, a division by its extent is an error that the scatter does not have. So an offset with such
//! a division is none of the note, unless it is certain that there are source elements.
//!
//! NOTE [Diagonal scatters]: if only elements with two equal indices have a target, the other elements need not be
//! visited. The scatter then loses one of the two dimensions. This is the adjoint of a matrix with a special rule on
//! its diagonal.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::defined;
use crate::kernel::{ArrayId, ArrayInfo, Instr, Monoid, Op, Reduction, Reg, ScalarFn, SiteId, walk, walk_mut};
use crate::optimize::facts::poly::{Poly, Sym};
use crate::optimize::facts::shape_analysis::{Inequality, Node, Premises, Ranges};
use crate::optimize::facts::strided_product::StridedProduct;
use crate::optimize::fuse::fused_program::{NewReduction, Pass, Permute};
use crate::optimize::fuse::reshapes;
use crate::optimize::fuse::rewrites::{SCATTER, SCATTERED_PRODUCTS};
use crate::optimize::scalar::scalar_cleanup::{Cleaned, ExecutionCount, code_of};
use crate::optimize::sums::scattered_products::scattered_products;
use accel_core::ast::deep;
use accel_core::repr::op::{Cmp, Int2, Logic, Num2, Op1, Op2};
use accel_core::repr::{Agreement, MAX_EXTENT, Scalar, ScalarType};
use std::collections::{BTreeMap, BTreeSet};

/// The least length of rows that are summed apart: NOTE [Sums in groups]. Chosen: shorter ones are not much fewer.
const LONG_ROWS: i64 = 32;

/// One dimension of the target: `offset + i_k`, `offset - i_k` or `offset`, for all indices of the source but those of an edge.
struct TargetDim {
    param: Option<usize>,
    reversed: bool,
    offset: Poly,
    edge: Option<Edge>,
}

/// The indices of the source at one end of a dimension, which go elsewhere: NOTE [Targets of edges].
struct Edge {
    /// Whether they are the last ones; otherwise they are the first ones.
    is_last: bool,
    /// Where they go, from the outermost one inwards.
    targets: Vec<Poly>,
    /// What holds for the other indices.
    others: Inequality,
}

impl Edge {
    fn moved(&self) -> i64 {
        self.targets.len() as i64
    }
}

/// The largest number of indices that an edge may have.
const MOST_MOVED: i64 = 4;
/// The largest number of comparisons in a target whose outcomes are tried.
const MOST_COMPARISONS: usize = 4;
/// The largest number of source elements that a target element may have.
const MOST_SOURCES: i64 = 16;

/// Emits a permute, or the better statements that replace it.
pub fn permute(pass: &mut Pass, p: Permute, site: SiteId) {
    let target = pass.preview(p.target, &p.source);
    if !pass.rewrites(SCATTER, site, |pass| is_replaced(pass, &p, &target, site))
        && !pass.rewrites(SCATTERED_PRODUCTS, site, |pass| scattered_products(pass, &p, site))
    {
        scattered(pass, p, target, site);
    }
}

/// Emits the statements that gather what a permute scatters. Returns whether there are such.
fn is_replaced(pass: &mut Pass, p: &Permute, target: &Cleaned, site: SiteId) -> bool {
    if let Some((kept, other)) = diagonal(pass, p, &target.code) {
        diagonal_only(pass, p.clone(), kept, other, site);
        return true;
    }
    if target.constants[0] != Some(Scalar::Bool(true)) {
        let Some((element, places)) = all_kept(pass, p, &target.code) else { return false };
        return !is_part_in_loop(pass, &places)
            && gathered(pass, &Permute { element: &element, ..p.clone() }, &places, site);
    }
    let Some(places) = places(pass, p, target) else { return false };
    let gather = if are_inside(pass, p, &places, &[]) { gathered } else { gathered_if_inside };
    !is_part_in_loop(pass, &places) && gather(pass, p, &places, site)
}

/// Emits a permute as it is.
fn scattered(pass: &mut Pass, p: Permute, target: Cleaned, site: SiteId) {
    pass.keep(&target);
    let element = pass.clean(p.element, &p.source).code;
    let comb = pass.clean(p.comb, &[]).code;
    let Permute { to, defaults, extents, monoid, .. } = p;
    let target = target.code;
    pass.emit(Op::Permute { to, defaults, extents, target, inside: false, element, comb, monoid }, site);
}

/// Emits a decision between the reduction and the scatter: NOTE [Targets within bounds]. Returns whether it did.
fn gathered_if_inside(pass: &mut Pass, p: &Permute, places: &[TargetDim], site: SiteId) -> bool {
    let is_summed = (0..p.source.len()).any(|k| places.iter().all(|place| place.param != Some(k)));
    let has_edges = places.iter().any(|place| place.edge.is_some());
    let may_decide = pass.times == ExecutionCount::Once && !pass.outside.contains(&site);
    if !is_summed || has_edges || !may_decide || !has_known_extents(pass, p) {
        return false;
    }
    let (info, dims) = (pass.program.arrays[p.to].clone(), pass.facts.dims(p.to));
    let cond = is_inside(pass, p, places);
    let (sums, all) = (pass.array(info.clone(), dims.clone()), pass.array(info, dims));
    let first = pass.reads.len();
    let mut is_gathered = false;
    let then = pass.branch(|pass| is_gathered = gathered(pass, &Permute { to: sums, ..p.clone() }, places, site));
    if !is_gathered {
        return false;
    }
    let second = pass.reads.len();
    let otherwise = pass.branch(|pass| {
        let target = pass.preview(p.target, &p.source);
        scattered(pass, Permute { to: all, ..p.clone() }, target, site)
    });
    pass.only_one_of(first, second);
    let (then, otherwise) = ((then, vec![pass.alias(sums)]), (otherwise, vec![all]));
    pass.emit(Op::If { to: vec![p.to], cond, then, otherwise }, site);
    true
}

/// The scalar function that says that there are elements, and that all targets are within bounds.
fn is_inside(pass: &mut Pass, p: &Permute, places: &[TargetDim]) -> ScalarFn {
    let dims = pass.facts.dims(p.defaults);
    let mut b = Builder::new(&[]);
    let mut value = |b: &mut Builder, n: &Poly| b.inline(&code_of(&mut pass.facts, std::slice::from_ref(n)), &[])[0];
    let [zero, one, largest] = [0, 1, MAX_EXTENT as i64].map(|x| b.constant(Scalar::I64(x)));
    let source: Vec<Reg> = p.source.iter().map(|n| value(&mut b, n)).collect();
    let mut all = vec![];
    for n in &source {
        all.extend([b.compare(Cmp::Gt, *n, zero), b.compare(Cmp::Le, *n, largest)]);
    }
    // If the offset is within bounds, the other end is a sum that does not wrap.
    for (place, n) in places.iter().zip(&dims) {
        let mut ends = vec![value(&mut b, &place.offset)];
        if let Some(k) = place.param {
            let last = b.index_op(Num2::Sub, source[k], one);
            ends.push(b.index_op(if place.reversed { Num2::Sub } else { Num2::Add }, ends[0], last));
        }
        let n = value(&mut b, n);
        for end in ends {
            all.extend([b.compare(Cmp::Ge, end, zero), b.compare(Cmp::Lt, end, n)]);
        }
    }
    let cond = b.all(all);
    b.finish(vec![cond])
}

/// Whether the targets are a part of the array that differs from step to step of a loop: NOTE [Scatters in loops].
fn is_part_in_loop(pass: &Pass, places: &[TargetDim]) -> bool {
    let moves = |p: &TargetDim| p.param.is_none() && p.offset.as_constant().is_none();
    pass.known.open_loop > 0 && places.iter().any(moves)
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

/// The dimensions of the target, if they have the form of the note.
fn places(pass: &mut Pass, p: &Permute, target: &Cleaned) -> Option<Vec<TargetDim>> {
    let mut used = BTreeSet::new();
    let mut places: Vec<TargetDim> = vec![];
    let mut outcomes = None;
    for d in 1..target.values.len() {
        let of_value = target.values[d].as_ref().and_then(|e| clamped(pass, p, e).or_else(|| plain(pass, e)));
        let place = match of_value.filter(|place| pass.facts.is_known(&place.offset)) {
            Some(place) => place,
            None => {
                let outcomes = outcomes.get_or_insert_with(|| Outcomes::new(pass, p, &target.code));
                chosen(pass, p, outcomes, d)?
            }
        };
        if place.param.is_some_and(|k| !used.insert(k)) {
            return None;
        }
        places.push(place);
    }
    let sources: i64 = places.iter().map(|p| 1 + p.edge.as_ref().map_or(0, Edge::moved)).product();
    let has_edges = places.iter().any(|p| p.edge.is_some());
    let is_possible = !has_edges || p.monoid.is_some_and(Monoid::commutes) && sources <= MOST_SOURCES;
    (is_possible && !divides_without_elements(pass, p, &places)).then_some(places)
}

/// NOTE [Offsets that divide].
fn divides_without_elements(pass: &mut Pass, p: &Permute, places: &[TargetDim]) -> bool {
    let mut numbers = places.iter().flat_map(|p| p.edge.iter().flat_map(|e| &e.targets).chain([&p.offset]));
    let divides = numbers.any(|n| pass.facts.may_divide_by_zero(n));
    let has_elements = |n: &Poly| pass.facts.hold(&Inequality::range(&Poly::constant(0), n), Ranges::default());
    divides && !p.source.iter().all(has_elements)
}

/// Whether no target is out of bounds. That is an error, which a gather would not notice. The conditions hold for the elements that
/// have a target.
fn are_inside(pass: &mut Pass, p: &Permute, places: &[TargetDim], conditions: &[Inequality]) -> bool {
    let dims = pass.facts.dims(p.defaults);
    let mut inside = |assume: bool| {
        places.iter().zip(&dims).all(|(place, n)| {
            let mut conditions = conditions.to_vec();
            conditions.extend(place.edge.iter().map(|e| e.others.clone()));
            let ranges = Ranges { params: &p.source, conditions: &conditions };
            let i = place.param.map(|k| Poly::sym(Sym::Param(k))).unwrap_or_default();
            let inner = place.offset.plus(&i, if place.reversed { -1 } else { 1 });
            let mut edges = place.edge.iter().flat_map(|e| &e.targets);
            pass.is_inside(Some(&inner), n, ranges, assume)
                && edges.all(|e| pass.is_inside(Some(e), n, Ranges::default(), assume))
        })
    };
    inside(false) && inside(true)
}

/// The elements, or the neutral element for those without a target, and the dimensions of the target if all had one: NOTE
/// [Conditional scatters].
fn all_kept(pass: &mut Pass, p: &Permute, target: &ScalarFn) -> Option<(ScalarFn, Vec<TargetDim>)> {
    let monoid = p.monoid?;
    // Elements whose target is nowhere are not computed any more, so they must not fail.
    let fails = |code: &ScalarFn| walk(&code.instrs).any(|i| i.check(code).is_some());
    if fails(target) || fails(p.element) {
        return None;
    }
    let kept = target.results[0];
    let mut decisions = BTreeMap::new();
    decide(target, kept, true, &mut decisions);
    let conditions = decisions.iter().flat_map(|(r, value)| implied(pass, p, target, *r, *value)).collect::<Vec<_>>();
    let decided = pass.preview(&decided(target, &decisions), &p.source);
    let places = places(pass, p, &decided)?;
    are_inside(pass, p, &places, &conditions).then_some(())?;
    let mut b = Builder::new(&index_types(p.source.len()));
    let index = b.params();
    let cond = b.inline(&ScalarFn { results: vec![kept], ..target.clone() }, &index)[0];
    let elements = b.inline(p.element, &index);
    let types: Vec<ScalarType> = p.element.results.iter().map(|r| p.element.types[*r]).collect();
    let neutral: Vec<Reg> = types.iter().map(|t| b.constant(monoid.neutral(*t))).collect();
    let merge: Vec<(Reg, Reg, Reg)> =
        types.iter().zip(elements.into_iter().zip(neutral)).map(|(t, (x, zero))| (b.reg(*t), x, zero)).collect();
    let results = merge.iter().map(|m| m.0).collect();
    b.emit(Instr::If { cond, then: vec![].into(), otherwise: vec![].into(), merge });
    Some((b.finish(results), places))
}

/// The function with these comparisons decided.
fn decided(code: &ScalarFn, decisions: &BTreeMap<Reg, bool>) -> ScalarFn {
    let mut decided = code.clone();
    walk_mut(&mut decided.instrs, |i| {
        if let Instr::Op2(to, Op2::Cmp(_), ..) = i
            && let Some(value) = decisions.get(to)
        {
            *i = Instr::Const(*to, Scalar::Bool(*value));
        }
    });
    decided
}

/// Finds the comparisons that a condition decides if it has this value.
fn decide(code: &ScalarFn, cond: Reg, value: bool, found: &mut BTreeMap<Reg, bool>) {
    let constant = |r: Reg| {
        walk(&code.instrs).find_map(|i| match i {
            Instr::Const(to, Scalar::Bool(x)) if *to == r => Some(*x),
            _ => None,
        })
    };
    deep(|| match defined(code, cond) {
        Some(Instr::Op1(_, Op1::Not, a)) => decide(code, *a, !value, found),
        Some(Instr::Op2(_, Op2::Logic(logic), a, b)) if (*logic == Logic::And) == value => {
            decide(code, *a, value, found);
            decide(code, *b, value, found);
        }
        Some(Instr::Op2(_, Op2::Cmp(_), ..)) => _ = found.insert(cond, value),
        Some(Instr::If { cond: decision, merge, .. }) => {
            let Some((_, then, otherwise)) = merge.iter().find(|m| m.0 == cond) else { return };
            let (then, otherwise) = (constant(*then), constant(*otherwise));
            if then == Some(!value) {
                decide(code, *decision, false, found);
            } else if otherwise == Some(!value) {
                decide(code, *decision, true, found);
            }
        }
        _ => {}
    })
}

/// What is known of integers if a comparison has this value.
fn implied(pass: &mut Pass, p: &Permute, code: &ScalarFn, cond: Reg, value: bool) -> Vec<Inequality> {
    let Some(Instr::Op2(_, Op2::Cmp(cmp), a, b)) = defined(code, cond) else { return vec![] };
    let both = pass.preview(&ScalarFn { results: vec![*a, *b], ..code.clone() }, &p.source).values;
    let [Some(a), Some(b)] = &both[..] else { return vec![] };
    let ranges = Ranges { params: &p.source, conditions: &[] };
    let (a, b) = (&pass.facts.exact(a, ranges), &pass.facts.exact(b, ranges));
    let sides = pass.facts.sides(*cmp, a, b, ranges);
    if value { sides.yes } else { sides.no }
}

/// A dimension of the target without an edge.
fn plain(pass: &Pass, e: &Poly) -> Option<TargetDim> {
    let params: BTreeSet<usize> = pass.facts.params_in(e);
    let mut params = params.into_iter();
    match (params.next(), params.next()) {
        (None, _) => Some(TargetDim { param: None, reversed: false, offset: e.clone(), edge: None }),
        (Some(k), None) => {
            let (slope, offset) = e.linear(Sym::Param(k))?;
            let reversed = match slope.as_constant() {
                Some(1) => false,
                Some(-1) => true,
                _ => return None,
            };
            Some(TargetDim { param: Some(k), reversed, offset, edge: None })
        }
        _ => None,
    }
}

/// A dimension of the target that is the minimum or the maximum of a number and a bound that consists of extents.
fn clamped(pass: &Pass, p: &Permute, e: &Poly) -> Option<TargetDim> {
    let Some(Sym::Node(n)) = e.as_sym() else { return None };
    let Node::Op(Op2::Num(op @ (Num2::Min | Num2::Max)), a, b) = pass.facts.node(n) else { return None };
    let (bound, inner) = match (pass.facts.is_known(a), pass.facts.is_known(b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return None,
    };
    let others = if *op == Num2::Min { Inequality::new(inner, bound) } else { Inequality::new(bound, inner) };
    with_edge(plain(pass, inner)?, p, others, |count| Some(vec![bound.clone(); count]))
}

/// The values of a target for all outcomes of its comparisons.
struct Outcomes<'a> {
    code: &'a ScalarFn,
    comparisons: Vec<Reg>,
    /// At the number of which they are the bits; empty if there are no comparisons, or too many.
    values: Vec<Vec<Option<Poly>>>,
}

impl Outcomes<'_> {
    fn new<'a>(pass: &mut Pass, p: &Permute, code: &'a ScalarFn) -> Outcomes<'a> {
        let comparison = |i: &Instr| if let Instr::Op2(to, Op2::Cmp(_), ..) = i { Some(*to) } else { None };
        let comparisons: Vec<Reg> = walk(&code.instrs).filter_map(comparison).collect();
        let all = if (1..=MOST_COMPARISONS).contains(&comparisons.len()) { 1 << comparisons.len() } else { 0 };
        let outcome = |bits: usize| {
            let decisions = comparisons.iter().enumerate().map(|(k, r)| (*r, bits >> k & 1 == 1)).collect();
            pass.preview(&decided(code, &decisions), &p.source).values
        };
        let values = (0..all).map(outcome).collect();
        Outcomes { code, comparisons, values }
    }
}

/// A dimension of the target that one comparison of several chooses.
fn chosen(pass: &mut Pass, p: &Permute, outcomes: &Outcomes, d: usize) -> Option<TargetDim> {
    let values: Vec<&Poly> = outcomes.values.iter().map(|values| values[d].as_ref()).collect::<Option<_>>()?;
    let decides = |k: &usize| (0..values.len()).all(|bits| values[bits] == values[bits & 1 << k]);
    let k = (0..outcomes.comparisons.len()).find(decides).filter(|_| !values.is_empty())?;
    let (cond, if_false, if_true) = (outcomes.comparisons[k], values[0], values[1 << k]);
    [(true, if_true, if_false), (false, if_false, if_true)].into_iter().find_map(|(value, inner, outer)| {
        let [others] = implied(pass, p, outcomes.code, cond, value).try_into().ok()?;
        let place = plain(pass, inner).filter(|place| pass.facts.is_known(&place.offset))?;
        let k = place.param?;
        let mut needed = vec![];
        let place = with_edge(place, p, others.clone(), |count| {
            let is_last = is_last(&others, k)?;
            let at = |j: i64| if is_last { p.source[k].plus_constant(-1 - j) } else { Poly::constant(j) };
            (0..count as i64).map(|j| settled(pass, outer, k, &at(j), &mut needed)).collect()
        })?;
        needed.into_iter().for_each(|needed| pass.facts.assume(needed));
        Some(place)
    })
}

/// Whether a condition holds for all indices of dimension `k` but the last ones, and not for all but the first ones.
fn is_last(others: &Inequality, k: usize) -> Option<bool> {
    match others.difference()?.linear(Sym::Param(k))?.0.as_constant() {
        Some(1) => Some(false),
        Some(-1) => Some(true),
        _ => None,
    }
}

/// The dimension with the indices that do not satisfy `others` as its edge. `targets` says where a number of them go.
fn with_edge(
    place: TargetDim,
    p: &Permute,
    others: Inequality,
    targets: impl FnOnce(usize) -> Option<Vec<Poly>>,
) -> Option<TargetDim> {
    let k = place.param.filter(|_| !place.reversed)?;
    let is_last = is_last(&others, k)?;
    let bound = others.difference()?.linear(Sym::Param(k))?.1;
    let moved = if is_last {
        p.source[k].minus_exactly(&bound)?.plus_constant(-1)
    } else {
        Poly::default().minus_exactly(&bound)?
    };
    let moved = moved.as_constant().filter(|n| (1..=MOST_MOVED).contains(n))?;
    let targets = targets(moved as usize)?;
    Some(TargetDim { edge: Some(Edge { is_last, targets, others }), ..place })
}

/// What a number is if index `k` is `at`, a number that consists of extents. If the extents decide what it is, as for `rem_euclid(-1, n)`, it is
/// what it is for large extents, and `needed` says for which.
fn settled(pass: &mut Pass, e: &Poly, k: usize, at: &Poly, needed: &mut Vec<Premises>) -> Option<Poly> {
    let mut e = e.replace(Sym::Param(k), at)?;
    let nodes: BTreeSet<Sym> = e.symbols().filter(|s| matches!(s, Sym::Node(_))).collect();
    for s in nodes {
        let Sym::Node(n) = s else { continue };
        let Node::Op(op, a, b) = pass.facts.node(n).clone() else { continue };
        let a = deep(|| settled(pass, &a, k, at, needed))?;
        let b = deep(|| settled(pass, &b, k, at, needed))?;
        let mut hold = |all: &[Inequality]| {
            let found: Option<Vec<Premises>> = all.iter().map(|x| pass.for_large_extents(x)).collect();
            found.map(|found| needed.extend(found))
        };
        let by = match op {
            Op2::Num(Num2::Min | Num2::Max) => {
                let is_less = hold(&[Inequality::new(&a, &b)]).is_some();
                if !is_less {
                    hold(&[Inequality::new(&b, &a)])?;
                }
                if is_less == (op == Op2::Num(Num2::Min)) { a } else { b }
            }
            Op2::Int(Int2::RemEuclid) => {
                let all = [a.clone(), a.plus(&b, 1), a.plus(&b, -1)];
                all.into_iter().find(|rem| hold(&Inequality::range(rem, &b)).is_some())?
            }
            op => pass.facts.op(op, &a, &b, Ranges::default()),
        };
        e = e.replace(s, &by)?;
    }
    pass.facts.is_known(&e).then_some(e)
}

/// Emits a loop over the target, after a reduction if one is needed.
fn gathered(pass: &mut Pass, p: &Permute, places: &[TargetDim], site: SiteId) -> bool {
    let params: Vec<usize> = places.iter().filter_map(|p| p.param).collect();
    let summed: Vec<usize> = (0..p.source.len()).filter(|k| !params.contains(k)).collect();
    let dims = pass.facts.dims(p.defaults);
    if !has_known_extents(pass, p) {
        return false;
    }
    // Of the source, only elements that the target has are visited, so nothing else finds that there can be no such source.
    pass.agree(Agreement::Extents, [&p.extents, &Builder::new(&[]).finish(vec![])], site);
    let columns = pass.program.arrays[p.to].columns.clone();
    // The elements, indexed by the parameters that the target contains, in the order of the target's dimensions.
    let elements = if summed.is_empty() {
        in_order(p, &params, None)
    } else {
        let is_whole = |(place, n): (&TargetDim, &Poly)| {
            place.param.is_some_and(|k| p.source[k] == *n)
                && !place.reversed
                && place.edge.is_none()
                && place.offset.as_constant() == Some(0)
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

/// Each value separately: the product of 0 and something unknown is known.
fn has_known_extents(pass: &Pass, p: &Permute) -> bool {
    p.source.iter().chain(&pass.facts.dims(p.defaults)).all(|n| pass.facts.is_known(n))
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
    let first = init.clone();
    let mut b = Builder::new(&[]);
    let results = init.into_iter().map(|x| b.constant(x)).collect();
    let init = b.finish(results);
    // The sums of all rows, if these are sums of numbers.
    if params.is_empty() && summed.len() > 1 && p.element.results.len() == 1 {
        let all: Vec<Poly> = summed.iter().map(|k| p.source[*k].clone()).collect();
        let total =
            NewReduction { element: p.element.clone(), init: init.clone(), op: p.comb.clone(), monoid: p.monoid };
        if reshapes::total_by_rows(pass, to, &all, total, site) {
            return true;
        }
    }
    let extents: Vec<ScalarFn> =
        summed.iter().map(|k| code_of(&mut pass.facts, std::slice::from_ref(&p.source[*k]))).collect();
    let element = in_order(p, params, Some((summed, &extents)));
    let n = code_of(&mut pass.facts, std::slice::from_ref(&len));
    let rows = Reduction { len: n, element, init: Some(init), op: p.comb.clone(), monoid: p.monoid };
    if let Some(group) = last_group(pass, p, params, summed, &rows) {
        return in_groups(pass, p, to, params, summed.split_at(group), first, site);
    }
    let dims = params.iter().map(|k| p.source[*k].clone()).collect();
    let Reduction { element, init: Some(init), op, monoid, .. } = rows else { return false };
    pass.reduce(to, dims, len, NewReduction { element, init, op, monoid }, site);
    true
}

/// NOTE [Sums in groups]: the derivative by a bias sums over the images, the rows and the columns of an array, but not over its channels. As
/// one index, these dimensions are digits that each element divides for, and no vector has neighbours. The rows and columns
/// follow each other, so their sums are those of long rows without gaps. A second, short reduction sums these. Strided products have no
/// need of this: their library takes digits.
///
/// Where the last group of summed dimensions that follow each other begins, if it is not the only one and may be long.
fn last_group(pass: &mut Pass, p: &Permute, params: &[usize], summed: &[usize], rows: &Reduction) -> Option<usize> {
    let first = (1..summed.len()).rev().find(|k| summed[*k] != summed[*k - 1] + 1)?;
    let len = summed[first..].iter().try_fold(Poly::constant(1), |n, k| n.times(&p.source[*k]))?;
    let is_short = len.as_constant().is_some_and(|n| n < LONG_ROWS);
    let is_product = || StridedProduct::terms_of_rows(params.len(), rows).is_some();
    (rows.float_sum().is_some() && !is_short && !is_product() && reshapes::have_elements(pass, &p.source))
        .then_some(first)
}

/// Emits the sums over the last group of dimensions, and then those over the others.
fn in_groups(
    pass: &mut Pass,
    p: &Permute,
    to: ArrayId,
    params: &[usize],
    (outer, inner): (&[usize], &[usize]),
    init: Vec<Scalar>,
    site: SiteId,
) -> bool {
    let kept = [params, outer].concat();
    let dims: Vec<Poly> = kept.iter().map(|k| p.source[*k].clone()).collect();
    let columns = pass.program.arrays[p.to].columns.clone();
    let sums = pass.array(ArrayInfo { rank: kept.len(), columns: columns.clone() }, dims.clone());
    // A sum that begins with 0 is never -0, so its parts can begin with 0, too.
    let parts =
        init.iter().zip(&columns).map(|(x, t)| if *x == t.zero() { *x } else { Monoid::Sum.neutral(*t) }).collect();
    let element = read(sums, kept.len(), &columns, site);
    let of_sums = Permute { source: dims, element: &element, ..p.clone() };
    let [params, outer] = [0..params.len(), params.len()..kept.len()].map(|range| range.collect::<Vec<_>>());
    totals(pass, p, sums, &kept, inner, parts, site) && totals(pass, &of_sums, to, &params, &outer, init, site)
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

/// From an index of the target to its element: the default, combined with the source's elements if there are any.
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
    let mut old: Vec<Reg> = columns.iter().map(|t| b.reg(*t)).collect();
    b.emit(Instr::Read { to: old.clone(), array: p.defaults, index: t.clone(), site, inside: true });
    let mut all = vec![Source::default()];
    for (t, place) in t.iter().zip(places) {
        let here = sources(&mut b, pass, p, *t, place);
        all = all.iter().flat_map(|before| here.iter().map(|source| before.and(source))).collect();
    }
    for source in all {
        let cond = b.all(source.conditions);
        let (then, new) = b.block(|b| {
            let x = b.inline(inner, &source.index);
            b.inline(p.comb, &[x, old.clone()].concat())
        });
        let merge: Vec<(Reg, Reg, Reg)> =
            columns.iter().zip(new.iter().zip(&old)).map(|(t, (new, old))| (b.reg(*t), *new, *old)).collect();
        old = merge.iter().map(|m| m.0).collect();
        b.emit(Instr::If { cond, then, otherwise: vec![].into(), merge });
    }
    b.finish(old)
}

/// A source element of a target element: its index, and the conditions under which it is one.
#[derive(Clone, Default)]
struct Source {
    index: Vec<Reg>,
    conditions: Vec<Reg>,
}

impl Source {
    fn and(&self, other: &Source) -> Source {
        let index = [&self.index[..], &other.index].concat();
        Source { index, conditions: [&self.conditions[..], &other.conditions].concat() }
    }
}

/// The indices of the source along the dimension of the target whose index is `t`.
fn sources(b: &mut Builder, pass: &mut Pass, p: &Permute, t: Reg, place: &TargetDim) -> Vec<Source> {
    let mut value = |b: &mut Builder, n: &Poly| {
        let code = code_of(&mut pass.facts, std::slice::from_ref(n));
        b.inline(&code, &[])[0]
    };
    let offset = value(b, &place.offset);
    let Some(k) = place.param else {
        return vec![Source { index: vec![], conditions: vec![b.compare(Cmp::Eq, t, offset)] }];
    };
    let (x, y) = if place.reversed { (offset, t) } else { (t, offset) };
    let i = b.index_op(Num2::Sub, x, y);
    let (zero, n) = (b.constant(Scalar::I64(0)), value(b, &p.source[k]));
    let mut conditions = vec![b.compare(Cmp::Ge, i, zero), b.compare(Cmp::Lt, i, n)];
    let Some(edge) = &place.edge else {
        return vec![Source { index: vec![i], conditions }];
    };
    let [first, last] = if edge.is_last { [0, edge.moved()] } else { [edge.moved(), 0] };
    let (first, end) = (b.constant(Scalar::I64(first)), value(b, &p.source[k].plus_constant(-last)));
    conditions = vec![b.compare(Cmp::Ge, i, first), b.compare(Cmp::Lt, i, end)];
    let mut all = vec![Source { index: vec![i], conditions }];
    for (j, target) in (0..).zip(&edge.targets) {
        let i = if edge.is_last { value(b, &p.source[k].plus_constant(-1 - j)) } else { b.constant(Scalar::I64(j)) };
        let exists = if edge.is_last { b.compare(Cmp::Ge, i, zero) } else { b.compare(Cmp::Lt, i, n) };
        let target = value(b, target);
        all.push(Source { index: vec![i], conditions: vec![b.compare(Cmp::Eq, t, target), exists] });
    }
    all
}
