//! The launch cache: the launches of each statement, which depend on the extents of arrays.
//!
//! NOTE [Launch cache]: it takes the host longer to find out what to launch than to launch it. But most runs of a
//! program have arguments of the same extents as the run before. Then all launches are the same again, unless an extent
//! or a branch depends on the elements of an array. So they are kept for the next run.

use crate::plan::Step;
use crate::run::Run;
use crate::shapes::{Launched, Space};
use crate::stop::{Stop, WalkResult, strip};
use accel_codegen::opencl::Sizes;
use accel_core::error::{Error, Result};
use accel_core::repr::Scalar;
use accel_fusion::kernel::{self, ArrayId, Op, SiteId, scalar_evaluation, scan_extents};
use std::sync::Arc;

/// The extents in the form that kernels take.
fn numbers(extents: &[usize]) -> Vec<i64> {
    extents.iter().map(|e| *e as i64).collect()
}

/// From this number of elements on, positions need more than 32 bits.
const WIDE: i128 = 1 << 31;

impl Run<'_> {
    /// Sets the extents of the arrays that a statement defines. Returns the index space of its launch, if it launches
    /// kernels.
    pub fn find_extents(&mut self, s: &Step) -> WalkResult<Option<Space>> {
        match &s.op {
            Op::Literal { to, literal } => {
                let extents = &self.code.program.literals[*literal].extents;
                scalar_evaluation::check_size(|| self.site(s.site), extents)?;
                self.set_extents(*to, numbers(extents))?;
                Ok(None)
            }
            Op::Loop { to, extents, .. } => {
                let extents = self.evaluate(extents, s.site)?;
                to.iter().try_for_each(|a| self.set_extents(*a, numbers(&extents)))?;
                Ok(Some((extents, 1)))
            }
            Op::Accumulate { to, sums, extents, .. } => {
                let extents = self.evaluate(extents, s.site)?;
                to.iter().try_for_each(|a| self.set_extents(*a, numbers(&extents)))?;
                for (sum, initial) in sums {
                    self.set_extents(*sum, self.shapes.extents[*initial].clone())?;
                }
                Ok(Some((extents, 1)))
            }
            Op::Reduce { to, extents, rows } => {
                let (outer, len) = self.rows(extents, rows, s.site)?;
                self.check_rows(rows, &outer, len, s.site)?;
                self.set_extents(*to, numbers(&outer))?;
                Ok(Some((outer, len)))
            }
            Op::Scan { to, extents, down, rows, .. } => {
                let (outer, len) = self.rows(extents, rows, s.site)?;
                let all = scan_extents(&outer, len + usize::from(rows.init.is_some()), *down);
                scalar_evaluation::check_size(|| self.site(s.site), &all)?;
                self.set_extents(*to, numbers(&all))?;
                Ok(Some((outer, len)))
            }
            Op::Permute { to, defaults, extents, .. } => {
                let source = self.evaluate(extents, s.site)?;
                self.set_extents(*to, self.shapes.extents[*defaults].clone())?;
                Ok(Some((source, 1)))
            }
            Op::Argsort { to, keys, moved } => {
                let extents = self.shapes.extents[*keys].clone();
                if moved.iter().flatten().any(|a| self.shapes.extents[*a] != extents) {
                    return Err(Error::Internal("an array that moves with keys of other extents".into()).into());
                }
                to.iter().try_for_each(|a| self.set_extents(*a, extents.clone()))?;
                let mut space = self.shapes.sizes(*keys);
                let len = space.pop().ok_or_else(|| Error::Internal("keys without rows".into()))?;
                Ok(Some((space, len)))
            }
            Op::Foreign { to, extents, .. } => {
                let all = scalar_evaluation::extents_of_each(&self.code.program, self, extents, to, s.site)?;
                to.iter().zip(all).try_for_each(|(a, own)| self.set_extents(*a, numbers(&own)))?;
                Ok(None)
            }
            Op::Reshape { to, from, extents } => {
                let new = self.evaluate(extents, s.site)?;
                scalar_evaluation::check_reshape(&self.code.program, s.site, &self.shapes.sizes(*from), &new)?;
                self.set_extents(*to, numbers(&new))?;
                Ok(None)
            }
            Op::Agree { agreement, left, right } => {
                scalar_evaluation::check_agreement(&self.code.program, self, *agreement, [left, right], s.site)?;
                Ok(None)
            }
            Op::Strip { .. } => Err(strip().into()),
            Op::If { .. } | Op::While { .. } | Op::Keep { .. } | Op::Recall { .. } => Ok(None),
        }
    }

    /// The launch of a statement: computed for `space`, or the known one if there is no space.
    pub fn launched(&mut self, s: &Step, space: Option<Space>) -> WalkResult<Arc<Launched>> {
        let number = s.number;
        let Some((space, len)) = space else {
            let known = self.shapes.launched.get(number).cloned().flatten();
            return known.ok_or_else(|| Error::Internal(format!("statement {number} launches nothing")).into());
        };
        let found = Arc::new(self.find_launched(s, &space, len)?);
        let all = &mut Arc::make_mut(&mut self.shapes).launched;
        all.resize(all.len().max(number + 1), None);
        all[number] = Some(found.clone());
        Ok(found)
    }

    fn find_launched(&self, s: &Step, space: &[usize], len: usize) -> WalkResult<Launched> {
        let space = numbers(space);
        self.check_positions(&space, len)?;
        let Some(statement) = self.code.module.emitted.statements.get(&s.number) else {
            return Err(Error::Internal(format!("statement {} has no kernels", s.number)).into());
        };
        let sizes = Sizes { space: &space, len: len as i64, extents: &self.shapes.extents };
        let work = statement.work(&sizes, &self.code.module.target);
        Ok(Launched { space, work })
    }

    /// The outer extents and the length of rows.
    fn rows(&self, extents: &kernel::ScalarFn, rows: &kernel::Reduction, site: SiteId) -> Result<(Vec<usize>, usize)> {
        let outer = self.evaluate(extents, site)?;
        let len = scalar_evaluation::row_length(&self.code.program, self, rows, &outer, site)?;
        Ok((outer, len))
    }

    /// Checks that rows are not empty, unless there is an initial value.
    fn check_rows(&self, rows: &kernel::Reduction, outer: &[usize], len: usize, site: SiteId) -> Result<()> {
        if len == 0 && rows.init.is_none() && !outer.contains(&0) {
            return Err(scalar_evaluation::empty_rows(&self.code.program, site, outer));
        }
        Ok(())
    }

    fn evaluate(&self, extents: &kernel::ScalarFn, site: SiteId) -> Result<Vec<usize>> {
        scalar_evaluation::extents(&self.code.program, self, extents, site)
    }

    /// Evaluates a scalar function without parameters.
    pub fn values(&self, code: &kernel::ScalarFn, site: SiteId) -> Result<Vec<Scalar>> {
        scalar_evaluation::values(&self.code.program, self, code, site)
    }

    pub fn set_extents(&mut self, a: ArrayId, extents: Vec<i64>) -> WalkResult<()> {
        self.check_positions(&extents, 1)?;
        Arc::make_mut(&mut self.shapes).extents[a] = extents;
        Ok(())
    }

    /// Checks whether the positions of the kernels are large enough for this number of elements.
    fn check_positions(&self, extents: &[i64], len: usize) -> WalkResult<()> {
        let product = extents.iter().fold(len as i128, |n, e| n.saturating_mul(i128::from(*e)));
        if product >= WIDE && !self.code.module.target.wide { Err(Stop::Wide) } else { Ok(()) }
    }
}
