//! What the extents of arrays decide: what each statement launches.
//!
//! NOTE [The shapes of the last run]
//! The host takes longer to find out what is to be launched than to launch it. But most runs of a program have arguments of the same extents
//! as the run before, and then everything here is the same again, unless an extent or a choice depends on the elements of an array. So
//! it is kept for the next run.

use crate::plan::Step;
use crate::run::{Run, Stop, Walked};
use accel_codegen::opencl::{Kernel, Sizes};
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
    work: Vec<Option<Arc<Work>>>,
}

/// What a statement launches.
pub struct Work {
    /// Its index space.
    pub space: Vec<i64>,
    /// About how many simple operations it takes.
    pub operations: usize,
    /// The bytes of buffers that exist only during the statement.
    pub scratch: Vec<usize>,
    pub launches: Vec<Launch>,
}

/// A call of a kernel: see [`accel_codegen::opencl::Launch`].
pub struct Launch {
    pub kernel: Kernel,
    pub global: [usize; 2],
    pub group: [usize; 2],
    pub numbers: Vec<i64>,
    pub local: Vec<usize>,
}

impl Shapes {
    /// Of a program with so many arrays: nothing yet.
    pub fn new(arrays: usize) -> Shapes {
        Shapes { extents: vec![vec![]; arrays], work: vec![] }
    }

    /// What a statement launches, if it is known.
    pub fn work(&self, number: usize) -> Option<Arc<Work>> {
        self.work.get(number)?.clone()
    }

    /// Sets what a statement launches.
    fn set_work(&mut self, number: usize, work: Work) {
        self.work.resize(self.work.len().max(number + 1), None);
        self.work[number] = Some(Arc::new(work));
    }
}

/// An index space, and the length of rows.
pub type Space = (Vec<usize>, usize);

/// From this many elements on, positions need more than 32 bits.
const WIDE: i128 = 1 << 31;

impl Run<'_> {
    /// Sets the extents of the arrays that a statement defines. What it launches kernels for, if it does.
    pub fn find_extents(&mut self, s: &Step) -> Walked<Option<Space>> {
        match &s.op {
            Op::Literal { to, literal } => {
                let extents = self.code.program.literals[*literal].extents.clone();
                self.set_extents(*to, &extents)?;
                Ok(None)
            }
            Op::Loop { to, extents, .. } => {
                let extents = self.evaluate(extents, s.site)?;
                to.iter().try_for_each(|a| self.set_extents(*a, &extents))?;
                Ok(Some((extents, 1)))
            }
            Op::Reduce { to, extents, rows } => {
                let (outer, len) = self.rows(extents, rows, s.site)?;
                self.set_extents(*to, &outer)?;
                Ok(Some((outer, len)))
            }
            Op::Scan { to, extents, rows, .. } => {
                let (outer, len) = self.rows(extents, rows, s.site)?;
                let all = [&outer[..], &[len + usize::from(rows.init.is_some())]].concat();
                machine::check_size(|| self.site(s.site), &all)?;
                self.set_extents(*to, &all)?;
                Ok(Some((outer, len)))
            }
            Op::Permute { to, defaults, extents, .. } => {
                let source = self.evaluate(extents, s.site)?;
                let target = self.extents(*defaults);
                self.set_extents(*to, &target)?;
                Ok(Some((source, 1)))
            }
            Op::Reshape { to, from, extents } => {
                let new = self.evaluate(extents, s.site)?;
                machine::check_reshape(&self.code.program, s.site, &self.extents(*from), &new)?;
                self.set_extents(*to, &new)?;
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
        inner.op.defines().iter().try_for_each(|a| self.set_extents(*a, &extents))
    }

    /// Finds out what a statement launches for a space. With none, it is known.
    pub fn find_work(&mut self, s: &Step, space: Option<Space>) -> Walked<()> {
        if let Some((space, len)) = space {
            let work = self.work(s, &space, len)?;
            Arc::make_mut(&mut self.shapes).set_work(s.number, work);
        }
        Ok(())
    }

    fn work(&self, s: &Step, space: &[usize], len: usize) -> Walked<Work> {
        if let Op::Reduce { rows, .. } = &s.op {
            self.check_rows(rows, space, len, s.site)?;
        }
        let space: Vec<i64> = space.iter().map(|e| *e as i64).collect();
        self.check_positions(&space, len)?;
        let Some(statement) = self.code.module.statements.get(&s.number) else {
            return Err(Error::Internal(format!("statement {} has no kernels", s.number)).into());
        };
        let sizes = Sizes { space: &space, len: len as i64, extents: &self.shapes.extents };
        if statement.is_too_large(&sizes) {
            return Err(Stop::Plain);
        }
        let operations = statement.operations(&sizes);
        let work = statement.work(&sizes, &self.code.target);
        let launches = work.launches.into_iter().map(|l| Launch {
            kernel: l.kernel.clone(),
            global: l.global,
            group: l.group,
            numbers: l.numbers,
            local: l.local,
        });
        Ok(Work { operations, scratch: work.scratch, launches: launches.collect(), space })
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

    /// The extents of an array.
    pub fn extents(&self, a: ArrayId) -> Vec<usize> {
        self.shapes.extents[a].iter().map(|e| *e as usize).collect()
    }

    pub fn set_extents(&mut self, a: ArrayId, extents: &[usize]) -> Walked<()> {
        let extents: Vec<i64> = extents.iter().map(|e| *e as i64).collect();
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
