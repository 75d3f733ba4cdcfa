//! Row selections: conditionals that decide in the same way for a whole row become selections of its elements.
//!
//! NOTE [Row selections]: of the adjoint of a convolution, the first and the last rows of an image have fewer terms than the
//! others, see NOTE [Row decisions]. Each of their elements tests which terms exist, and such branches read, so C compilers do
//! not use vectors for these rows. If there are few rows, they are a large part of the image, or all of it. So all terms are
//! computed, and those that do not exist are not selected. They read something else: where a component of the index is the same
//! for the whole row, 0 takes its place. This is inside if the array has elements at all. The other components must be inside
//! whatever the conditions are. The first and the last element show this for the whole row, so it is tested once for each row.

use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, IndexVec, Instr, Reg, ScalarFn, index_vec};
use crate::optimize::facts::edges::{all_hold, forms, sums};
use crate::optimize::facts::poly::{Poly, Sym};
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::scalar::scalar_cleanup::{ExecutionCount, NoProducers, clean};
use crate::optimize::scalar::selections::varying;
use accel_core::ast::deep;
use accel_core::repr::op::Cmp;
use accel_core::repr::{Scalar, ScalarType};
use std::collections::{BTreeSet, HashMap};

/// A scalar function of an index, with selections in place of a row's conditionals.
pub struct RowSelections {
    /// Whether all that the function reads exists: a function of the same index. If it holds for two elements of a row, then
    /// also for those between them.
    pub inside: ScalarFn,
    /// The function.
    pub code: ScalarFn,
    /// For each of its registers, whether it differs between the elements of a row.
    pub varying: IndexVec<Reg, bool>,
}

/// The function of an index with these extents with selections, if it has conditionals of rows that read, and no other ones.
pub(crate) fn row_selections(facts: &mut Facts, code: &ScalarFn, extents: &[Poly]) -> Option<RowSelections> {
    let last = extents.len().checked_sub(1)?;
    let mut s = Selecting::new(code, extents.len(), varying(code, Reg::new(last)), &|_| false);
    s.all(code)?;
    let inside = s.all_inside().filter(|_| s.code.is_if_convertible())?;
    let mut cleaned = |code: &ScalarFn| clean(facts, &NoProducers, code, extents, ExecutionCount::Maybe).code;
    let code = cleaned(&s.code);
    Some(RowSelections { inside: cleaned(&inside), varying: varying(&code, Reg::new(last)), code })
}

/// A scalar function of an index with selections in place of all conditionals.
pub(crate) struct AllSelected {
    pub(crate) code: ScalarFn,
    /// The arrays that must have elements: in place of what a conditional would not read, the first element is read.
    pub(crate) read: BTreeSet<ArrayId>,
}

/// A function of an index of `rank` numbers with selections in place of all conditionals, if that is possible. Its results matter
/// only where all registers of `conditions` are true. Elsewhere, and where a conditional would not read, reads for which
/// `anywhere` holds stay as they are.
pub(crate) fn all_selected(
    code: &ScalarFn,
    rank: usize,
    conditions: &[Reg],
    anywhere: &dyn Fn(&Instr) -> bool,
) -> Option<AllSelected> {
    let mut s = Selecting::new(code, rank, index_vec![false; code.types.len()], anywhere);
    let conditions: Vec<_> = conditions.iter().map(|r| (*r, true)).collect();
    code.instrs.iter().try_for_each(|i| s.of_branch(&conditions, i))?;
    Some(AllSelected { code: s.code, read: s.inside.iter().map(|t| t.1).collect() })
}

struct Selecting<'f> {
    /// The function so far.
    code: ScalarFn,
    /// Which registers differ between the elements of a row. Conditionals that do are left as they are.
    varying: IndexVec<Reg, bool>,
    /// Which reads of branches stay as they are.
    anywhere: &'f dyn Fn(&Instr) -> bool,
    forms: HashMap<Reg, Poly>,
    /// The index along the row.
    last: Sym,
    zero: Reg,
    /// What is tested: a component of an index along a dimension of an array, or that this is not empty.
    inside: BTreeSet<(Option<Reg>, ArrayId, usize)>,
}

impl<'f> Selecting<'f> {
    fn new(
        code: &ScalarFn,
        rank: usize,
        varying: IndexVec<Reg, bool>,
        anywhere: &'f dyn Fn(&Instr) -> bool,
    ) -> Selecting<'f> {
        let mut empty = ScalarFn { instrs: vec![], ..code.clone() };
        let zero = empty.types.push(ScalarType::I64);
        empty.instrs.push(Instr::Const(zero, Scalar::I64(0)));
        let (forms, last) = (forms(code, rank), Sym::Param(rank - 1));
        Selecting { code: empty, varying, anywhere, forms, last, zero, inside: BTreeSet::new() }
    }

    /// Adds the instructions of the function.
    fn all(&mut self, code: &ScalarFn) -> Option<()> {
        code.instrs.iter().try_for_each(|i| match i {
            Instr::If { cond, .. } if !self.varying[*cond] => self.of_branch(&[], i),
            i => {
                self.code.instrs.push(i.clone());
                Some(())
            }
        })
    }

    /// An instruction that is executed if these conditions have these outcomes.
    fn of_branch(&mut self, conditions: &[(Reg, bool)], i: &Instr) -> Option<()> {
        let mut i = i.clone();
        if let Instr::If { cond, then, otherwise, merge } = i {
            if self.varying[cond] {
                return None;
            }
            for (branch, taken) in [(then, true), (otherwise, false)] {
                let conditions = [conditions, &[(cond, taken)]].concat();
                deep(|| branch.iter().try_for_each(|i| self.of_branch(&conditions, i)))?;
            }
            self.select(cond, merge);
            return Some(());
        }
        if !i.is_branch_free(&self.code) {
            return None;
        }
        let stays = (self.anywhere)(&i);
        if let Instr::Read { array, index, .. } = &mut i
            && !stays
        {
            for (dim, r) in index.iter_mut().enumerate() {
                if self.varying[*r] {
                    let (slope, _) = self.forms.get(r)?.linear(self.last)?;
                    if slope.as_constant() != Some(1) {
                        return None;
                    }
                    self.inside.insert((Some(*r), *array, dim));
                } else {
                    // Outer conditions decide last: what the inner ones compare may itself not exist.
                    for (cond, taken) in conditions.iter().rev() {
                        let to = self.code.types.push(ScalarType::I64);
                        let (a, b) = if *taken { (*r, self.zero) } else { (self.zero, *r) };
                        self.select(*cond, vec![(to, a, b)]);
                        *r = to;
                    }
                    self.inside.extend((!conditions.is_empty()).then_some((None, *array, dim)));
                }
            }
        }
        self.code.instrs.push(i);
        Some(())
    }

    fn select(&mut self, cond: Reg, merge: Vec<(Reg, Reg, Reg)>) {
        self.code.instrs.push(Instr::If { cond, then: vec![].into(), otherwise: vec![].into(), merge });
    }

    /// Whether all components of indices are inside; `None` without any.
    fn all_inside(&self) -> Option<ScalarFn> {
        let mut sums = sums(&self.code, &self.forms, |_| false);
        sums.results = self.inside.iter().filter_map(|t| t.0).collect();
        let (mut b, found) = Builder::after(sums);
        let mut components = found.into_iter();
        let zero = b.constant(Scalar::I64(0));
        let mut tests = vec![];
        for (component, array, dim) in &self.inside {
            let r = if component.is_some() { components.next()? } else { zero };
            tests.extend([(Cmp::Ge, r, zero), (Cmp::Lt, r, b.extent(*array, *dim))]);
        }
        all_hold(b, &tests)
    }
}
