//! Computes what depends on fewer indices than an element has as often as there are such indices.
//!
//! NOTE [Values of fewer indices]: `vmap` maps scalar functions as a whole. So a Jacobian, the tangents of a program for all unit vectors,
//! computes `exp(a[i]) * t[k, i]` with an exponential function for each k. And a sum of products that is written in one formula,
//! `Σ_i d[i] * x[i, k] * x[i, l]`, is one of matrices if `d[i] * x[i, k]` is an array. So
//! - values that take a call of the mathematical library, and do not depend on all indices,
//! - operands of products of matrices
//!
//! are computed for their own indices in a loop before the statement. This takes no more memory than what the statement computes or reads: a sum over
//! elements that are in no memory, such as random numbers, stays one. A value that depends on no index is left to the C compiler.

use super::functions_of_arrays::function;
use crate::kernel::builder::{Builder, index_types, joined};
use crate::kernel::dead_code::{defined, restricted_to};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Op, Program, Reduction, Reg, ScalarFn, SiteId, Stmt, walk};
use crate::optimize::facts::known_extents::{KnownExtents, constants, known_extents};
use crate::optimize::facts::shape_analysis::InputExtents;
use crate::optimize::{Place, Rule, rewrite};
use accel_core::repr::Scalar;
use accel_core::repr::op::{Float2, Num2, Op2};
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of values for the same indices. Chosen: the statement reads one number for each of them.
const MOST: usize = 8;

/// Gives values that depend on fewer indices than their statements statements of their own.
pub(crate) fn fewer_indices(program: &Program, given: &InputExtents) -> Program {
    rewrite(program, &mut Apart { known: known_extents(program, given) })
}

struct Apart {
    known: KnownExtents,
}

impl Rule for Apart {
    fn stmt(&mut self, place: &mut Place, mut s: Stmt, before: &mut Vec<Stmt>) {
        match &mut s.op {
            Op::Loop { extents, body, .. } => Space::new(&self.known, &[extents], s.site).values(place, body, before),
            Op::Reduce { extents, rows, .. } => {
                let space = Space { is_sum: true, ..Space::new(&self.known, &[extents, &rows.len], s.site) };
                space.operands(place, rows, before);
                space.values(place, &mut rows.element, before);
            }
            _ => {}
        }
        before.push(s);
    }
}

/// The index space of a statement.
struct Space {
    /// The extents.
    extents: ScalarFn,
    /// Those that are constants.
    known: Vec<Option<i64>>,
    site: SiteId,
    /// Whether the last index is that of the rows of a reduction.
    is_sum: bool,
}

impl Space {
    fn new(known: &KnownExtents, extents: &[&ScalarFn], site: SiteId) -> Space {
        let extents = joined(extents);
        let one = |r: &Reg| constants(&restricted_to(&extents, vec![*r]), known)?.pop();
        Space { known: extents.results.iter().map(one).collect(), extents, site, is_sum: false }
    }

    /// Computes values of some code in this space before it.
    fn values(&self, place: &mut Place, code: &mut ScalarFn, before: &mut Vec<Stmt>) {
        if code.params < 2 || !walk(&code.instrs).any(|i| function(i).is_some()) {
            return;
        }
        let long: BTreeSet<Reg> = code.param_regs().filter(|p| self.known[p.index()] != Some(1)).collect();
        for (indices, values) in frontier(code, &long) {
            let computed = restricted_to(code, values.clone());
            let is_large =
                self.is_sum && indices.iter().any(|p| p.index() + 1 == code.params) && !reads(code, &indices);
            if values.len() > MOST || !computed.is_total() || is_large {
                continue;
            }
            let arrays = self.arrays(place, &computed, &indices, before);
            for (r, array) in values.iter().zip(arrays) {
                let read = self.read(*r, array, &indices);
                code.instrs.iter_mut().filter(|i| i.sets()[..] == [*r]).for_each(|i| *i = read.clone());
            }
        }
        *code = restricted_to(code, code.results.clone());
    }

    /// Computes both operands of a product of matrices before it, unless they are in memory.
    fn operands(&self, place: &mut Place, rows: &mut Reduction, before: &mut Vec<Stmt>) {
        let code = &rows.element;
        let Some(([a, b], scalars)) = rows.float_sum().and_then(|r| rows.operands(r)) else { return };
        let all = |p: Reg| a.0.contains(&p) || b.0.contains(&p);
        let is_product = a.0.intersection(&b.0).any(|p| p.index() + 1 == code.params)
            && !a.0.is_subset(&b.0)
            && !b.0.is_subset(&a.0)
            && code.param_regs().all(all);
        let in_memory = |r: &Reg| match defined(code, *r) {
            Some(Instr::Read { index, .. }) => index.iter().all(|p| *p < code.params),
            _ => false,
        };
        if !is_product || ![&a, &b].into_iter().all(|(own, _)| reads(code, own)) {
            return;
        }
        if [&a, &b].into_iter().all(|(_, own)| own.len() == 1 && in_memory(&own[0])) {
            return;
        }
        let t = code.types[code.results[0]];
        let is_strong = code.instrs.iter().any(|i| matches!(i, Instr::Op2(_, Op2::Float(Float2::StrongMul), ..)));
        let op = if is_strong { Op2::Float(Float2::StrongMul) } else { Op2::Num(Num2::Mul) };
        let params: Vec<Reg> = code.param_regs().collect();
        let mut whole = Builder::new(&index_types(code.params));
        let mut factors = whole.inline(&restricted_to(code, scalars), &params);
        for (indices, own) in [a, b] {
            let (mut b, own) = Builder::after(restricted_to(code, own));
            let product = own.into_iter().reduce(|x, y| {
                let to = b.reg(t);
                b.emit(Instr::Op2(to, op, x, y));
                to
            });
            let computed = b.finish(product.into_iter().collect());
            if matches!(computed.instrs[..], [Instr::Read { .. }]) {
                factors.extend(whole.inline(&computed, &params));
                continue;
            }
            for array in self.arrays(place, &computed, &indices, before) {
                let to = whole.reg(t);
                whole.emit(self.read(to, array, &indices));
                factors.push(to);
            }
        }
        let product = whole.product(t, factors);
        rows.element = whole.finish(product.into_iter().collect());
    }

    fn read(&self, to: Reg, array: ArrayId, indices: &BTreeSet<Reg>) -> Instr {
        let index = indices.iter().copied().collect();
        Instr::Read { to: vec![to], array, index, site: self.site, inside: true }
    }

    /// The arrays of the results of some code, which depend on these of its indices only. A loop before the statement computes them.
    fn arrays(
        &self,
        place: &mut Place,
        code: &ScalarFn,
        indices: &BTreeSet<Reg>,
        before: &mut Vec<Stmt>,
    ) -> Vec<ArrayId> {
        let (mut b, all) = Builder::after(self.extents.clone());
        let mut own: Vec<Reg> = indices.iter().map(|p| all[p.index()]).collect();
        // A statement without elements reads nothing, so without another index, there are no values of these.
        for p in code.param_regs().filter(|p| !indices.contains(p) && self.known[p.index()].is_none_or(|n| n < 1)) {
            let one = b.constant(Scalar::I64(1));
            let is_there = b.index_op(Num2::Min, all[p.index()], one);
            own[0] = b.index_op(Num2::Mul, own[0], is_there);
        }
        let extents = restricted_to(&b.finish(own.clone()), own);
        let mut b = Builder::new(&index_types(indices.len()));
        // Nothing depends on the other indices, or they are 0.
        let none = b.constant(Scalar::I64(0));
        let own = |p: Reg| indices.iter().position(|i| *i == p).map_or(none, Reg::new);
        let results = b.inline(code, &code.param_regs().map(own).collect::<Vec<_>>());
        let body = restricted_to(&b.finish(results.clone()), results);
        let info = |r: &Reg| ArrayInfo { rank: indices.len(), columns: vec![code.types[*r]] };
        let to: Vec<ArrayId> = code.results.iter().map(|r| place.arrays.push(info(r))).collect();
        before.push(Stmt { op: Op::Loop { to: to.clone(), extents, body }, site: self.site });
        to
    }
}

/// Whether some code reads elements for all values of these indices.
fn reads(code: &ScalarFn, indices: &BTreeSet<Reg>) -> bool {
    let covers = |i: &Instr| matches!(i, Instr::Read { index, .. } if indices.iter().all(|p| index.contains(p)));
    walk(&code.instrs).any(covers)
}

/// The values that take calls and depend on fewer of these indices than what they are used for, by their indices.
fn frontier(code: &ScalarFn, long: &BTreeSet<Reg>) -> BTreeMap<BTreeSet<Reg>, Vec<Reg>> {
    // Of each register, the indices, and whether there is a call.
    let mut of: BTreeMap<Reg, (BTreeSet<Reg>, bool)> = long.iter().map(|p| (*p, ([*p].into(), false))).collect();
    let mut found: BTreeMap<BTreeSet<Reg>, Vec<Reg>> = BTreeMap::new();
    let mut add = |r: Reg, (indices, calls): &(BTreeSet<Reg>, bool), single: &BTreeSet<Reg>| {
        if *calls && !indices.is_empty() && single.contains(&r) {
            let all = found.entry(indices.clone()).or_default();
            if !all.contains(&r) {
                all.push(r);
            }
        }
    };
    let mut single = BTreeSet::new();
    for i in &code.instrs {
        let mut used = BTreeSet::new();
        i.uses(&mut used);
        let parts: Vec<_> = used.iter().filter_map(|r| of.get(r).map(|own| (*r, own.clone()))).collect();
        let indices: BTreeSet<Reg> = parts.iter().flat_map(|(_, own)| own.0.iter().copied()).collect();
        let calls = parts.iter().any(|(_, own)| own.1) || walk(std::slice::from_ref(i)).any(|i| function(i).is_some());
        parts.iter().filter(|(_, own)| own.0 != indices).for_each(|(r, own)| add(*r, own, &single));
        let sets = i.sets();
        if let [r] = sets[..] {
            single.insert(r);
        }
        sets.into_iter().for_each(|r| _ = of.insert(r, (indices.clone(), calls)));
    }
    let results = code.results.iter().filter_map(|r| of.get(r).map(|own| (*r, own)));
    results.filter(|(_, own)| own.0 != *long).for_each(|(r, own)| add(r, own, &single));
    found
}
