//! Permutations: with atomic operations, or by one work-item.

use super::atomic_scatter::Atomic;
use super::emitter::{Emitter, Tasks};
use super::launch::{self, count};
use super::rows::one;
use super::target::Target;
use super::work::{Kernel, Sizes, Work};
use crate::analysis::liveness::Step;
use crate::shared::permute::Permute;
use accel_fusion::kernel::{ArrayId, Op};

/// Up to this number of elements, one item combines them in order: it needs no atomic operations, and no second launch for locks.
/// Chosen.
const ONE_BY_ONE: usize = 16;

/// The kernels of a permutation.
#[derive(Clone, Debug)]
pub struct Permutation {
    to: ArrayId,
    /// Combines all elements, one after the other.
    all: Kernel,
    /// Combines each element with one item.
    atomic: Option<Atomic>,
}

impl Permutation {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step) -> Option<Permutation> {
        let Op::Permute { to, extents, .. } = &s.stmt.op else { return None };
        let p = Permute::new(e.program, &s.stmt.op)?;
        let (rank, name) = (extents.results.len(), format!("permute_{}", s.number));
        let into = format!("{name}_into");
        e.function(s, &into, |w| w.combine_into(&into, &p));
        e.task_function(s, &name, |w| w.scatter(&name, &p));
        let atomic = Atomic::new(e, s);
        Some(Permutation { to: *to, all: e.kernel(&name, rank, Tasks::Ranges), atomic })
    }

    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let (n, targets) = (count(sizes.space), count(&sizes.extents[self.to]));
        if n == 0 {
            return Work::default();
        }
        if let Some(atomic) = self.atomic.as_ref().filter(|a| n > ONE_BY_ONE && a.is_possible(n)) {
            return atomic.work(n, targets, target);
        }
        one(launch::ranges(&self.all, n, n, 0, target))
    }
}
