//! Numbers that describe a trace.

use crate::steps::Steps;
use std::collections::HashSet;
use std::fmt;

/// The size and the shape of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stats {
    /// The number of steps, the arrays of the argument and constants included.
    pub steps: usize,
    /// The memory of the stored arrays, in bytes; steps that share their elements are counted once.
    pub bytes: usize,
    /// How often steps are used by others, or as a result.
    pub uses: usize,
    /// The number of operations in the longest chain of steps that depend on each other.
    pub depth: usize,
    /// The largest number of operations with the same depth: they do not depend on each other.
    pub width: usize,
    /// The number of different operations, which are compiled once each.
    pub kernels: usize,
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stats { steps, bytes, uses, depth, width, kernels } = self;
        write!(f, "{steps} steps, {bytes} bytes, {uses} uses, depth {depth}, width {width}, {kernels} kernels")
    }
}

/// Computes the statistics of a trace.
pub fn stats(steps: &Steps) -> Stats {
    let mut columns = HashSet::new();
    let (mut bytes, mut uses) = (0, steps.result.leaves().len());
    let (mut depths, mut widths): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
    let mut kernels = HashSet::new();
    for step in &steps.steps {
        let new = step.value.columns.iter().filter(|c| columns.insert(c.identity()));
        bytes += new.map(|c| c.bytes()).sum::<usize>();
        uses += step.inputs.len();
        let below = step.inputs.iter().map(|i| depths[*i]).max().unwrap_or(0);
        depths.push(below + usize::from(step.kernel().is_some()));
        if let Some(k) = step.kernel() {
            kernels.insert(std::sync::Arc::as_ptr(k));
            widths.resize(widths.len().max(below + 1), 0);
            widths[below] += 1;
        }
    }
    let (depth, width) = (widths.len(), widths.into_iter().max().unwrap_or(0));
    Stats { steps: steps.steps.len(), bytes, uses, depth, width, kernels: kernels.len() }
}
