//! The execution of a statement on a device: its plan, and the launches for given sizes.

use super::accumulate::Accumulation;
use super::launch;
use super::permute::Permutation;
use super::reduce::ReducePlan;
use super::scan::Scanning;
use super::sort::{self, Sorting};
use super::strip::Strips;
use super::target::Target;
use super::work::{Kernel, Launch, Sizes, Work};
use accel_core::repr::ScalarType;

/// The kernels of a statement.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(super) plan: Plan,
    /// The approximate number of simple operations of an element.
    pub(super) cost: usize,
    /// The largest number of lists of a scalar function.
    pub lists: usize,
}

/// The kernels of a statement, by its kind.
#[derive(Clone, Debug)]
pub enum Plan {
    /// `pieces` are the columns of a result that can be written in pieces.
    Loop {
        kernel: Kernel,
        cost: usize,
        pieces: Vec<ScalarType>,
    },
    Accumulate(Accumulation),
    Reduce(Box<ReducePlan>),
    Scan(Scanning),
    Permute(Permutation),
    Sort(Sorting),
    Strip(Strips),
}

impl Statement {
    /// The launches for a statement of these sizes. There are none if there is nothing to compute. A permutation
    /// expects a copy of its defaults in the array that it defines, and a statement with sums copies of their initial
    /// values; a strip expects the extents of all arrays of its body.
    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        match &self.plan {
            Plan::Loop { kernel, cost, pieces } => launch::loop_(kernel, sizes, *cost, pieces, target),
            Plan::Accumulate(a) => a.work(sizes, target),
            Plan::Reduce(r) => r.work(sizes, target),
            Plan::Scan(s) => s.work(sizes, target),
            Plan::Permute(p) => p.work(sizes, target),
            Plan::Sort(s) => s.work(sizes, target),
            Plan::Strip(s) => s.work(sizes, target),
        }
    }

    /// A launch of the statement with at most this number of work-items, if it does the same.
    pub fn with_at_most(&self, items: usize, launch: &Launch, target: &Target) -> Launch {
        match &self.plan {
            Plan::Loop { .. } | Plan::Accumulate(_) => launch::with_at_most(items, launch, target),
            _ => launch.clone(),
        }
    }

    /// The approximate number of simple operations.
    pub fn operations(&self, sizes: &Sizes) -> usize {
        let each = match &self.plan {
            Plan::Strip(s) => s.cost(sizes),
            Plan::Sort(_) => sort::cost(sizes.len as usize),
            _ => self.cost.saturating_mul(sizes.len as usize),
        };
        launch::count(sizes.space).saturating_mul(each)
    }

    /// Whether a strip would need so much memory that the program without strips should execute its statements one by
    /// one.
    pub fn is_too_large(&self, sizes: &Sizes) -> bool {
        matches!(&self.plan, Plan::Strip(s) if s.is_too_large(sizes))
    }
}
