//! What the extents of arrays decide: what each statement launches.
//!
//! NOTE [The shapes of the last run]
//! The host takes longer to find out what is to be launched than to launch it. But most runs of a program have arguments of the same extents
//! as the run before, and then everything here is the same again, unless an extent or a choice depends on the elements of an array. So
//! it is kept for the next run.

use crate::plan::Step;
use crate::run::{Run, Stop, Walked};
use accel_codegen::opencl::{Sizes, Work};
use accel_core::error::{Error, Result};
use accel_core::repr::Scalar;
use accel_fusion::kernel::{self, ArrayId, Op, SiteId, machine};
use std::sync::Arc;

/// The extents of a run, and what it launches.
#[derive(Clone)]
pub struct Shapes {
    /// Those of all arrays that exist so far.
    pub extents: Vec<Vec<i64>>,
    /// By the number of the statement.
    launched: Vec<Option<Arc<Launched>>>,
}

/// What a statement launches.
pub struct Launched {
    /// Its index space.
    pub space: Vec<i64>,
    /// About how many simple operations it takes.
    pub operations: usize,
    pub work: Work,
}

impl Shapes {
    /// Of a program with so many arrays: nothing yet.
    pub fn new(arrays: usize) -> Shapes {
        Shapes { extents: vec![vec![]; arrays], launched: vec![] }
    }

    /// The extents of an array.
    pub fn sizes(&self, a: ArrayId) -> Vec<usize> {
        self.extents[a].iter().map(|e| *e as usize).collect()
    }
}

/// An index space, and the length of rows.
pub type Space = (Vec<usize>, usize);

/// Extents as kernels take them.
fn numbers(extents: &[usize]) -> Vec<i64> {
    extents.iter().map(|e| *e as i64).collect()
}

/// From this many elements on, positions need more than 32 bits.
const WIDE: i128 = 1 << 31;

impl Run<'_> {
    /// Sets the extents of the arrays that a statement defines. What it launches kernels for, if it does.
    pub fn find_extents(&mut self, s: &Step) -> Walked<Option<Space>> {
        match &s.op {
            Op::Literal { to, literal } => {
                let extents = &self.code.program.literals[*literal].extents;
                machine::check_size(|| self.site(s.site), extents)?;
                self.set_extents(*to, numbers(extents))?;
                Ok(None)
            }
            Op::Loop { to, extents, .. } => {
                let extents = self.evaluate(extents, s.site)?;
                to.iter().try_for_each(|a| self.set_extents(*a, numbers(&extents)))?;
                Ok(Some((extents, 1)))
            }
            Op::Reduce { to, extents, rows } => {
                let (outer, len) = self.rows(extents, rows, s.site)?;
                self.check_rows(rows, &outer, len, s.site)?;
                self.set_extents(*to, numbers(&outer))?;
                Ok(Some((outer, len)))
            }
            Op::Scan { to, extents, rows, .. } => {
                let (outer, len) = self.rows(extents, rows, s.site)?;
                let all = [&outer[..], &[len + usize::from(rows.init.is_some())]].concat();
                machine::check_size(|| self.site(s.site), &all)?;
                self.set_extents(*to, numbers(&all))?;
                Ok(Some((outer, len)))
            }
            Op::Permute { to, defaults, extents, .. } => {
                let source = self.evaluate(extents, s.site)?;
                self.set_extents(*to, self.shapes.extents[*defaults].clone())?;
                Ok(Some((source, 1)))
            }
            Op::Reshape { to, from, extents } => {
                let new = self.evaluate(extents, s.site)?;
                machine::check_reshape(&self.code.program, s.site, &self.shapes.sizes(*from), &new)?;
                self.set_extents(*to, numbers(&new))?;
                Ok(None)
            }
            Op::Agree { agreement, left, right } => {
                machine::check_agreement(&self.code.program, self, *agreement, [left, right], s.site)?;
                Ok(None)
            }
            Op::Strip { len, body, .. } => {
                let len = self.evaluate(len, s.site)?;
                body.stmts.iter().try_for_each(|inner| self.inner_extents(inner))?;
                Ok(Some((len, 1)))
            }
            Op::If { .. } | Op::While { .. } => Ok(None),
        }
    }

    /// Sets the extents of what a statement of a strip defines.
    fn inner_extents(&mut self, inner: &kernel::Stmt) -> Walked<()> {
        let extents = match &inner.op {
            Op::Reduce { extents, rows, .. } => {
                let (outer, len) = self.rows(extents, rows, inner.site)?;
                self.check_rows(rows, &outer, len, inner.site)?;
                outer
            }
            op => self.evaluate(op.codes()[0].1, inner.site)?,
        };
        inner.op.defines().iter().try_for_each(|a| self.set_extents(*a, numbers(&extents)))
    }

    /// What a statement launches: for a space, or what is known if there is none.
    pub fn launched(&mut self, s: &Step, space: Option<Space>) -> Walked<Arc<Launched>> {
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

    fn find_launched(&self, s: &Step, space: &[usize], len: usize) -> Walked<Launched> {
        let space = numbers(space);
        self.check_positions(&space, len)?;
        let Some(statement) = self.code.module.statements.get(&s.number) else {
            return Err(Error::Internal(format!("statement {} has no kernels", s.number)).into());
        };
        let sizes = Sizes { space: &space, len: len as i64, extents: &self.shapes.extents };
        if statement.is_too_large(&sizes) {
            return Err(Stop::Plain);
        }
        let (operations, work) = (statement.operations(&sizes), statement.work(&sizes, &self.code.target));
        Ok(Launched { space, operations, work })
    }

    /// The outer extents and the length of rows.
    fn rows(&self, extents: &kernel::Code, rows: &kernel::Rows, site: SiteId) -> Result<(Vec<usize>, usize)> {
        let outer = self.evaluate(extents, site)?;
        let len = machine::row_length(&self.code.program, self, rows, &outer, site)?;
        Ok((outer, len))
    }

    /// Empty rows need an initial value.
    fn check_rows(&self, rows: &kernel::Rows, outer: &[usize], len: usize, site: SiteId) -> Result<()> {
        if len == 0 && rows.init.is_none() && !outer.contains(&0) {
            return Err(machine::empty_rows(&self.code.program, site, outer));
        }
        Ok(())
    }

    fn evaluate(&self, extents: &kernel::Code, site: SiteId) -> Result<Vec<usize>> {
        machine::extents(&self.code.program, self, extents, site)
    }

    /// What code without parameters computes.
    pub fn values(&self, code: &kernel::Code, site: SiteId) -> Result<Vec<Scalar>> {
        machine::values(&self.code.program, self, code, site)
    }

    pub fn set_extents(&mut self, a: ArrayId, extents: Vec<i64>) -> Walked<()> {
        self.check_positions(&extents, 1)?;
        Arc::make_mut(&mut self.shapes).extents[a] = extents;
        Ok(())
    }

    /// Whether the kernels can count so many elements.
    fn check_positions(&self, extents: &[i64], len: usize) -> Walked<()> {
        let product = extents.iter().fold(len as i128, |n, e| n.saturating_mul(i128::from(*e)));
        if product >= WIDE && !self.code.target.wide { Err(Stop::Wide) } else { Ok(()) }
    }
}
