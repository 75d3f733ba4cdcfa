//! Reshapes: sums of all elements, and elements that a reshape moves.
//!
//! NOTE [Reshapes and fusion]: a reshape costs nothing, but the array before it must be in memory. Two kinds of
//! reshapes often prevent fusion. Programs compute the sum of all elements of a matrix as the sum of a vector, the
//! reshaped matrix. The pass sums the rows of the matrix instead, and then these sums, so the rows need not be stored.
//! The adjoint of this sum is a vector of equal elements, reshaped to the matrix. The pass lets the elements of the
//! matrix read the vector at their row-major position instead; then the vector need not be stored if its elements take
//! no work.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Monoid, Op, Reduction, Reg, ScalarFn, SiteId};
use crate::optimize::facts::poly::Poly;
use crate::optimize::facts::shape_analysis::Ranges;
use crate::optimize::fuse::fused_program::{NewReduction, Pass};
use crate::optimize::scalar::scalar_cleanup::code_of;
use accel_core::repr::op::{Num2, Op2};

/// If this is the only row, and it has all elements of an array of several dimensions that a loop computes, emits
/// statements that combine them row by row. Returns whether it did.
pub fn sum_by_rows(pass: &mut Pass, to: ArrayId, dims: &[Poly], len: &Poly, rows: &Reduction, site: SiteId) -> bool {
    let Some((vector, monoid, init)) = combined(rows).filter(|_| dims.is_empty()) else { return false };
    let from = match pass.definition(vector).map(|s| &s.op) {
        Some(Op::Reshape { from, .. }) if pass.known.producers.contains_key(from) => *from,
        _ => return false,
    };
    let all = pass.facts.dims(from);
    if all.len() < 2
        || !all.iter().all(|n| pass.facts.is_known(n))
        || size(&all).as_ref() != Some(len)
        || pass.facts.dims(vector) != [len.clone()]
    {
        return false;
    }
    let mut b = Builder::new(&index_types(all.len()));
    let (x, index) = (b.reg(pass.program.arrays[from].columns[0]), b.params());
    b.emit(Instr::Read { to: vec![x], array: from, index, site, inside: true });
    let total = NewReduction { element: b.finish(vec![x]), init, op: rows.op.clone(), monoid: Some(monoid) };
    if all.iter().all(|n| pass.facts.is_given(n)) {
        return total_by_rows(pass, to, &all, total, site);
    }
    // Nothing can be assumed of extents that are computed. If the rows have no elements, this takes no rows.
    let mut all = all;
    all[0] = pass.facts.op(Op2::Num(Num2::Min), &all[0], len, Ranges::default());
    by_rows(pass, to, &all, total, site)
}

/// Combines all elements of an index space row by row. The elements are scalars. Returns whether this is possible.
pub fn total_by_rows(pass: &mut Pass, to: ArrayId, all: &[Poly], total: NewReduction, site: SiteId) -> bool {
    total.monoid.is_some() && have_elements(pass, all) && by_rows(pass, to, all, total, site)
}

/// Whether an index space has elements, which may be assumed: only then its rows are combined one by one. Rows without elements need no
/// memory, however many there are, but their sums would. And if there are no rows, nothing may be computed for one of them.
pub fn have_elements(pass: &mut Pass, all: &[Poly]) -> bool {
    let mut have = |assume| all.iter().all(|n| pass.is_inside(Some(&Poly::default()), n, Ranges::default(), assume));
    have(false) && have(true)
}

fn by_rows(pass: &mut Pass, to: ArrayId, all: &[Poly], total: NewReduction, site: SiteId) -> bool {
    let NewReduction { mut element, init, op, monoid: Some(monoid) } = total else { return false };
    let t = element.types[element.results[0]];
    // A sum that begins with 0 is never -0, so its parts can begin with 0, too.
    let begins_with_zero = matches!(&init.instrs[..], [Instr::Const(_, x)] if *x == t.zero());
    let neutral = if begins_with_zero && monoid == Monoid::Sum { t.zero() } else { monoid.neutral(t) };
    for rank in (1..all.len()).rev() {
        let outer = all[..rank].to_vec();
        let sums = pass.array(ArrayInfo { rank, columns: vec![t] }, outer.clone());
        let mut start = Builder::new(&[]);
        let zero = start.constant(neutral);
        let rows = NewReduction { element, init: start.finish(vec![zero]), op: op.clone(), monoid: Some(monoid) };
        pass.reduce(sums, outer, all[rank].clone(), rows, site);
        let mut b = Builder::new(&index_types(rank));
        let (x, index) = (b.reg(t), b.params());
        b.emit(Instr::Read { to: vec![x], array: sums, index, site, inside: true });
        element = b.finish(vec![x]);
    }
    pass.reduce(to, vec![], all[0].clone(), NewReduction { element, init, op, monoid: Some(monoid) }, site);
    true
}

/// The vector of which this row has all elements in order, the monoid that combines them, and the initial value.
fn combined(rows: &Reduction) -> Option<(ArrayId, Monoid, ScalarFn)> {
    match &rows.element.instrs[..] {
        [Instr::Read { to, array, index, inside: true, .. }]
            if to.len() == 1 && *to == rows.element.results && *index == [Reg::new(0)] =>
        {
            Some((*array, rows.monoid?, rows.init.clone()?))
        }
        _ => None,
    }
}

/// The number of elements of an array with these extents.
fn size(dims: &[Poly]) -> Option<Poly> {
    dims.iter().try_fold(Poly::constant(1), |n, extent| n.times(extent))
}

impl Pass<'_> {
    /// The scalar function of the elements of a reshaped array with the extents `dims`, if those of the array before take
    /// no work.
    pub(crate) fn reshaped(&mut self, from: ArrayId, dims: &[Poly], site: SiteId) -> Option<ScalarFn> {
        let producer = self.known.producers.get(&from).filter(|p| p.work == 0)?;
        // Otherwise, the reshape may fail.
        size(dims).filter(|n| size(&self.facts.dims(from)).as_ref() == Some(n))?;
        let mut b = Builder::new(&index_types(dims.len()));
        if let Some(constants) = producer.constants.clone() {
            let results = constants.into_iter().map(|x| b.constant(x)).collect();
            return Some(b.finish(results));
        }
        if producer.code.params != 1 || !dims.iter().all(|p| self.facts.is_known(p)) {
            return None;
        }
        let index = b.params();
        let mut position = *index.first()?;
        for (i, n) in index.iter().zip(dims).skip(1) {
            let n = b.inline(&code_of(&mut self.facts, std::slice::from_ref(n)), &[])[0];
            let rows = b.index_op(Num2::Mul, position, n);
            position = b.index_op(Num2::Add, rows, *i);
        }
        let to: Vec<Reg> = self.program.arrays[from].columns.iter().map(|t| b.reg(*t)).collect();
        b.emit(Instr::Read { to: to.clone(), array: from, index: vec![position], site, inside: true });
        Some(b.finish(to))
    }

    /// The scalar function of the elements of a reshaped array with the extents `dims`, if those of the array before are only
    /// moved: it reads them at the digits of the index. This takes more work than the reshape, which takes none, but not in a
    /// strided product.
    pub(crate) fn reshaped_digits(&mut self, from: ArrayId, dims: &[Poly], site: SiteId) -> Option<ScalarFn> {
        self.known.producers.get(&from).filter(|p| self.how.strided && p.moves())?;
        let own = self.facts.dims(from);
        own.iter().chain(dims).all(|n| self.facts.is_known(n)).then_some(())?;
        let mut b = Builder::new(&index_types(dims.len()));
        let index = b.params();
        let mut value =
            |b: &mut Builder, n: &Poly| b.inline(&code_of(&mut self.facts, std::slice::from_ref(n)), &[])[0];
        let mut digits = vec![];
        // Groups of dimensions with equally many elements, from the innermost one to the outermost one.
        let (mut i, mut j) = (dims.len(), own.len());
        while i > 0 || j > 0 {
            let (a, c) = group(&dims[..i], &own[..j])?;
            let mut position = *index[a..i].first()?;
            for k in a + 1..i {
                let n = value(&mut b, &dims[k]);
                let rows = b.index_op(Num2::Mul, position, n);
                position = b.index_op(Num2::Add, rows, index[k]);
            }
            for n in own[c + 1..j].iter().rev() {
                let n = value(&mut b, n);
                digits.push(b.index_op(Num2::Rem, position, n));
                position = b.index_op(Num2::Div, position, n);
            }
            digits.push(position);
            (i, j) = (a, c);
        }
        digits.reverse();
        let to: Vec<Reg> = self.program.arrays[from].columns.iter().map(|t| b.reg(*t)).collect();
        b.emit(Instr::Read { to: to.clone(), array: from, index: digits, site, inside: true });
        Some(b.finish(to))
    }
}

/// Where the last dimensions begin that have equally many elements in both, as few as possible, but at least one.
fn group(left: &[Poly], right: &[Poly]) -> Option<(usize, usize)> {
    let starts = |n: usize| (0..n).rev();
    let sizes: Vec<Option<Poly>> = starts(right.len()).map(|c| size(&right[c..])).collect();
    starts(left.len()).find_map(|a| {
        let n = size(&left[a..])?;
        let found = sizes.iter().position(|m| m.as_ref() == Some(&n))?;
        Some((a, right.len() - 1 - found))
    })
}
