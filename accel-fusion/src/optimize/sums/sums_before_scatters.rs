//! Scatters of sums: permutes that add up before they scatter, in loops.
//!
//! NOTE [Sums before scatters]: where no component of the target depends on an index of the source, all elements along this index go to the
//! same place, and the sum of them goes there as well. A scatter of n × n elements to a row becomes n sums and a scatter of n numbers; the
//! adjoint of an elimination is three of them in each step. Where this place is need not be known (NOTE [Scatters as
//! reductions] in `scatter`, which is tried before, knows it and needs no scatter). If only some elements have a target, the others
//! count as the neutral element, and a sum has a target if one of its elements has one. This is done in loops, which scatter in each step:
//! elsewhere, one scatter is saved, and a program whose targets are data gets another order of additions for it.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::{parameters, restricted_to};
use crate::kernel::{ArrayInfo, Instr, Monoid, Reg, ScalarFn, SiteId, walk};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Ranges;
use crate::optimize::fuse::fused_program::{NewReduction, Pass, Permute};
use crate::optimize::fuse::target_decisions::{decide, decided};
use crate::optimize::scalar::scalar_cleanup::Cleaned;
use accel_core::repr::{Scalar, ScalarType};
use std::collections::{BTreeMap, BTreeSet};

/// What is left to scatter: the extents of the sums, their targets, and the sums.
pub struct Rest {
    pub source: Vec<Poly>,
    pub target: ScalarFn,
    pub element: ScalarFn,
}

/// If all elements along an index of the source have the same target, emits their sums.
pub fn summed_first(pass: &mut Pass, p: &Permute, target: &Cleaned, site: SiteId) -> Option<Rest> {
    if pass.known.open_loop == 0 {
        return None;
    }
    let monoid = p.monoid.filter(|m| m.commutes())?;
    let (code, element) = (&target.code, pass.preview(p.element, &p.source).code);
    // Elements without a target are not computed, so they must not fail.
    let fails = |code: &ScalarFn| walk(&code.instrs).any(|i| i.check(code).is_some());
    if fails(code) || fails(&element) || !p.source.iter().all(|n| pass.facts.is_known(n)) {
        return None;
    }
    // Elements that are not there need no memory, however many sums of them there are, but these would.
    let has_elements = |pass: &mut Pass, assume| {
        let mut is_positive = |n| {
            pass.facts.is_number_of_steps(n) || pass.is_inside(Some(&Poly::default()), n, Ranges::default(), assume)
        };
        p.source.iter().all(&mut is_positive)
    };
    if !has_elements(pass, false) {
        return None;
    }
    let kept = code.results[0];
    let mut decisions = BTreeMap::new();
    decide(code, kept, true, &mut decisions);
    let places = pass.preview(&decided(code, &decisions), &p.source).code;
    let places_of = |r: &Reg| parameters(&places, *r).into_iter().chain([*r].into_iter().filter(|r| *r < code.params));
    let used: BTreeSet<Reg> = places.results[1..].iter().flat_map(places_of).collect();
    // The sums take no more memory than what is read.
    let reads = |i: &Instr| matches!(i, Instr::Read { index, .. } if used.iter().all(|p| index.contains(p)));
    if !walk(&code.instrs).chain(walk(&element.instrs)).any(reads) {
        return None;
    }
    let all = 0..p.source.len();
    let summed = all.clone().rev().find(|k| !used.contains(&Reg::new(*k)))?;
    has_elements(pass, true);
    let mut others = p.source.clone();
    let len = others.remove(summed);
    let rank = others.len();
    // The place of each index among those of the sums, of which the last one is that along which is summed.
    let index: Vec<Reg> = all.map(|k| Reg::new(if k == summed { rank } else { k - usize::from(k > summed) })).collect();

    let mut b = Builder::new(&index_types(rank + 1));
    let cond = b.inline(&restricted_to(code, vec![kept]), &index)[0];
    let types: Vec<ScalarType> = element.results.iter().map(|r| element.types[*r]).collect();
    let elements = b.inline(&element, &index);
    let neutral: Vec<Reg> = types.iter().map(|t| b.constant(monoid.neutral(*t))).collect();
    let merge: Vec<(Reg, Reg, Reg)> =
        types.iter().zip(elements.into_iter().zip(neutral)).map(|(t, (x, none))| (b.reg(*t), x, none)).collect();
    let results = merge.iter().map(|m| m.0).collect();
    b.emit(Instr::If { cond, then: vec![].into(), otherwise: vec![].into(), merge });
    let sums = pass.array(ArrayInfo { rank, columns: types.clone() }, others.clone());
    let none = constants(types.iter().map(|t| monoid.neutral(*t)));
    let sum = NewReduction { element: b.finish(results), init: none, op: p.comb.clone(), monoid: Some(monoid) };
    pass.reduce(sums, others.clone(), len.clone(), sum, site);

    let mut b = Builder::new(&index_types(rank));
    let own = b.params();
    let is_kept = if target.constants[0] == Some(Scalar::Bool(true)) {
        b.constant(Scalar::Bool(true))
    } else {
        let any = pass.array(ArrayInfo { rank, columns: vec![ScalarType::Bool] }, others.clone());
        let (mut e, mut op) = (Builder::new(&index_types(rank + 1)), Builder::new(&[ScalarType::Bool; 2]));
        let cond = e.inline(&restricted_to(code, vec![kept]), &index);
        let [x, y] = op.params()[..] else { unreachable!("two parameters") };
        let either = op.test(Monoid::Or.operator(), x, y);
        let (element, op) = (e.finish(cond), op.finish(vec![either]));
        let or = NewReduction { element, init: constants([Scalar::Bool(false)]), op, monoid: Some(Monoid::Or) };
        pass.reduce(any, others.clone(), len, or, site);
        let to = b.reg(ScalarType::Bool);
        b.emit(Instr::Read { to: vec![to], array: any, index: own.clone(), site, inside: true });
        to
    };
    // The place does not depend on the index along which is summed.
    let zero = b.constant(Scalar::I64(0));
    let args: Vec<Reg> = index.iter().map(|r| own.get(r.index()).copied().unwrap_or(zero)).collect();
    let place = b.inline(&restricted_to(&places, places.results[1..].to_vec()), &args);
    let target = b.finish([vec![is_kept], place].concat());
    let mut b = Builder::new(&index_types(rank));
    let to: Vec<Reg> = types.iter().map(|t| b.reg(*t)).collect();
    b.emit(Instr::Read { to: to.clone(), array: sums, index: b.params(), site, inside: true });
    let element = b.finish(to);
    Some(Rest { source: others, target, element })
}

/// A scalar function without parameters that has these results.
fn constants(all: impl IntoIterator<Item = Scalar>) -> ScalarFn {
    let mut b = Builder::new(&[]);
    let results = all.into_iter().map(|x| b.constant(x)).collect();
    b.finish(results)
}
