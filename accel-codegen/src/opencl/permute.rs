//! Permutations: by one work-item, by tasks with their own targets, or with atomic operations.

use super::atomic_scatter::Atomic;
use super::emitter::{Emitter, Tasks};
use super::launch::{self, Rest, count};
use super::rows::one;
use super::target::{Shape, Target};
use super::work::{Kernel, Sizes, Work, size_of};
use crate::analysis::liveness::Step;
use crate::cost_model::{PER_TARGET, SCATTERED, SERIAL_ELEMENTS, TASKS};
use crate::shared::permute::Permute;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Op};

/// Up to this number of elements, one item of a GPU combines them in order.
const ONE_BY_ONE: usize = 16;

/// The kernels of a permutation.
#[derive(Clone, Debug)]
pub struct Permutation {
    to: ArrayId,
    ty: Option<ScalarType>,
    /// Combines all elements, one after the other.
    all: Kernel,
    /// Kernels for copies of few targets, and for combining the copies: NOTE [Order of permutations].
    copies: Option<[Kernel; 2]>,
    /// Combines the elements of a range of targets.
    owned: Option<Kernel>,
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
        let cpu = e.target.shape == Shape::Cpu;
        let copies = p.monoid.filter(|_| cpu).map(|monoid| {
            let (part, copies) = (format!("{name}_part"), format!("{name}_copies"));
            e.task_function(s, &part, |w| w.private(&name, &p, monoid));
            e.task_function(s, &copies, |w| w.combine_copies(&p));
            [part, copies].map(|f| e.kernel(&f, rank, Tasks::Ranges))
        });
        let owned = (cpu && p.has_cheap_targets()).then(|| {
            let range = format!("{name}_range");
            e.task_function(s, &range, |w| w.owned(&name, &p));
            e.kernel(&range, rank, Tasks::Ranges)
        });
        let atomic = if cpu { None } else { Atomic::new(e, s) };
        Some(Permutation {
            atomic,
            to: *to,
            ty: e.program.arrays[*to].columns.first().copied(),
            all: e.kernel(&name, rank, Tasks::Ranges),
            copies,
            owned,
        })
    }

    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let (n, targets) = (count(sizes.space), count(&sizes.extents[self.to]));
        if n == 0 {
            return Work::default();
        }
        if let Some(atomic) = self.atomic.as_ref().filter(|a| n > ONE_BY_ONE && a.is_possible(n)) {
            return atomic.work(n, targets, target);
        }
        let nothing = Rest { len: 0, row: 0, slot: None };
        if n < SERIAL_ELEMENTS || targets == 0 {
            return one(launch::ranges(&self.all, n, n, nothing, target));
        }
        let parts = (n / PER_TARGET / targets).min(n / SCATTERED).min(TASKS);
        if let (Some([part, copies]), Some(t), 2..) = (&self.copies, self.ty, parts) {
            let copy = Rest { len: targets, row: 0, slot: None };
            let launches = vec![
                launch::ranges(part, n, n.div_ceil(parts), copy, target),
                launch::ranges(
                    copies,
                    targets,
                    targets.div_ceil((targets / SCATTERED).clamp(1, TASKS)),
                    Rest { slot: Some(n.div_ceil(n.div_ceil(parts))), ..copy },
                    target,
                ),
            ];
            return Work { scratch: vec![size_of(t, parts * targets)], launches };
        }
        let threads = target.units.min(8);
        if let (Some(owned), 2..) = (&self.owned, threads) {
            let all = Rest { len: n, row: 0, slot: None };
            return one(launch::ranges(owned, targets, targets.div_ceil(threads), all, target));
        }
        one(launch::ranges(&self.all, n, n, nothing, target))
    }
}
