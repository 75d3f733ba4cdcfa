//! The execution of a statement on a device: its plan, and the launches for given sizes.

use super::accumulate::Accumulation;
use super::launch;
use super::permute::Permutation;
use super::reduce::ReducePlan;
use super::scan::Scanning;
use super::sort::Sorting;
use super::target::Target;
use super::work::{Kernel, Launch, Sizes, Work};

/// The kernels of a statement.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(super) plan: Plan,
    /// The largest number of lists of a scalar function.
    pub lists: usize,
}

/// The kernels of a statement, by its kind.
#[derive(Clone, Debug)]
pub enum Plan {
    Loop(Kernel),
    Accumulate(Accumulation),
    Reduce(Box<ReducePlan>),
    Scan(Scanning),
    Permute(Permutation),
    Sort(Sorting),
}

impl Statement {
    /// The launches for a statement of these sizes. There are none if there is nothing to compute. A permutation
    /// expects a copy of its defaults in the array that it defines, and a statement with sums copies of their initial
    /// values.
    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        match &self.plan {
            Plan::Loop(kernel) => launch::loop_(kernel, sizes, target),
            Plan::Accumulate(a) => a.work(sizes, target),
            Plan::Reduce(r) => r.work(sizes, target),
            Plan::Scan(s) => s.work(sizes, target),
            Plan::Permute(p) => p.work(sizes, target),
            Plan::Sort(s) => s.work(sizes, target),
        }
    }

    /// A launch of the statement with at most this number of work-items, if it does the same.
    pub fn with_at_most(&self, items: usize, launch: &Launch, target: &Target) -> Launch {
        match &self.plan {
            Plan::Loop(_) | Plan::Accumulate(_) => launch::with_at_most(items, launch, target),
            _ => launch.clone(),
        }
    }
}
