//! Row selections: conditionals that decide in the same way for a whole row become selections of its elements.
//!
//! NOTE [Row selections]: of the adjoint of a convolution, the first and the last rows of an image have fewer terms than the
//! others, see NOTE [Row decisions]. Each of their elements tests which terms exist, and such branches read, so C compilers do
//! not use vectors for these rows. If there are few rows, they are a large part of the image, or all of it. So all terms are
//! computed, and those that do not exist are not selected. They read something else: where a component of the index is the same
//! for the whole row, 0 takes its place. This is inside if the array has elements at all. The other components must be inside
//! whatever the conditions are. The first and the last element show this for the whole row, so it is tested once for each row.

use super::edges::{all_hold, forms, sums};
use super::poly::{Poly, Sym};
use super::scalar_cleanup::{ExecutionCount, NoProducers, clean};
use super::selections::varying;
use super::shape_analysis::Facts;
use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, IndexVec, Instr, Reg, ScalarFn};
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
pub(super) fn row_selections(facts: &mut Facts, code: &ScalarFn, extents: &[Poly]) -> Option<RowSelections> {
    let last = extents.len().checked_sub(1)?;
    let mut s = Selecting {
        code: ScalarFn { instrs: vec![], ..code.clone() },
        varying: varying(code, Reg::new(last)),
        forms: forms(code, extents.len()),
        last: Sym::Param(last),
        zero: Reg::NONE,
        inside: BTreeSet::new(),
    };
    s.zero = s.code.types.push(ScalarType::I64);
    s.code.instrs.push(Instr::Const(s.zero, Scalar::I64(0)));
    for i in &code.instrs {
        s.instr(i)?;
    }
    if s.inside.is_empty() || !s.code.is_if_convertible() {
        return None;
    }
    let inside = s.all_inside()?;
    let mut cleaned = |code: &ScalarFn| clean(facts, &NoProducers, code, extents, ExecutionCount::Maybe).code;
    let code = cleaned(&s.code);
    Some(RowSelections { inside: cleaned(&inside), varying: varying(&code, Reg::new(last)), code })
}

struct Selecting {
    /// The function so far.
    code: ScalarFn,
    /// Which registers differ between the elements of a row.
    varying: IndexVec<Reg, bool>,
    forms: HashMap<Reg, Poly>,
    /// The index along the row.
    last: Sym,
    zero: Reg,
    /// What is tested: a component of an index along a dimension of an array, or that this is not empty.
    inside: BTreeSet<(Option<Reg>, ArrayId, usize)>,
}

impl Selecting {
    fn instr(&mut self, i: &Instr) -> Option<()> {
        match i {
            Instr::If { cond, then, otherwise, merge } if !self.varying[*cond] => {
                for (branch, taken) in [(then, true), (otherwise, false)] {
                    branch.iter().try_for_each(|i| self.of_branch(*cond, taken, i))?;
                }
                self.select(*cond, merge.clone());
            }
            i => self.code.instrs.push(i.clone()),
        }
        Some(())
    }

    /// An instruction of the branch for this outcome of a condition.
    fn of_branch(&mut self, cond: Reg, taken: bool, i: &Instr) -> Option<()> {
        let mut i = i.clone();
        if !i.is_branch_free(&self.code) {
            return None;
        }
        if let Instr::Read { array, index, .. } = &mut i {
            for (dim, r) in index.iter_mut().enumerate() {
                if self.varying[*r] {
                    let (slope, _) = self.forms.get(r)?.linear(self.last)?;
                    if slope.as_constant() != Some(1) {
                        return None;
                    }
                    self.inside.insert((Some(*r), *array, dim));
                } else {
                    let to = self.code.types.push(ScalarType::I64);
                    let (a, b) = if taken { (*r, self.zero) } else { (self.zero, *r) };
                    self.select(cond, vec![(to, a, b)]);
                    self.inside.insert((None, *array, dim));
                    *r = to;
                }
            }
        }
        self.code.instrs.push(i);
        Some(())
    }

    fn select(&mut self, cond: Reg, merge: Vec<(Reg, Reg, Reg)>) {
        self.code.instrs.push(Instr::If { cond, then: vec![].into(), otherwise: vec![].into(), merge });
    }

    /// Whether all components of indices are inside.
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
