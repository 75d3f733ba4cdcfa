//! Statements with sums: loops whose work-items also add to memory, see NOTE [Additions at the same time].

use super::emitter::{Emitter, Tasks};
use super::launch::{self, Rest};
use super::target::{Shape, Target};
use super::work::{Kernel, Sizes, Work};
use crate::analysis::liveness::Step;
use crate::shared::accumulate::Accumulate;
use crate::text::names::{elements, index};
use crate::text::sums::is_atomic;

/// The kernel of a statement with sums.
#[derive(Clone, Debug)]
pub struct Accumulation {
    kernel: Kernel,
    cost: usize,
    /// Whether one item executes all of it.
    in_order: bool,
}

impl Accumulation {
    /// Generates the kernel.
    pub fn new(e: &mut Emitter, s: &Step) -> Option<Accumulation> {
        let a = Accumulate::new(&s.stmt.op)?;
        let function = format!("accumulate_{}", s.number);
        let gpu = e.target.shape == Shape::Gpu;
        e.function(s, &function, |w| {
            w.aliased = s.aliased();
            a.sums.iter().for_each(|sum| w.hoist_output(*sum, true));
            if gpu {
                return w.element_at(&function, a.to, a.rank, a.body);
            }
            w.hoist(&[a.body]);
            a.to.iter().for_each(|to| w.hoist_output(*to, false));
            let results: Vec<_> = a.to.iter().flat_map(|to| elements(*to, w.columns(*to).len(), "p")).collect();
            w.positions_in_order(a.rank, |w| w.code(a.body, &index(a.rank), &results));
            w.task_head(&function)
        });
        let kernel = match gpu {
            true => e.loop_kernel(s, &function, a.to, false),
            false => e.kernel(&function, a.rank, Tasks::Ranges),
        };
        let dialect = e.declarations.dialect;
        let in_order = !a.columns(e.program).iter().all(|(.., t)| is_atomic(*t, dialect));
        Some(Accumulation { kernel, cost: a.body.cost(), in_order })
    }

    /// The launch for an index space.
    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let n = launch::count(sizes.space);
        if !self.in_order || n == 0 {
            return launch::loop_(&self.kernel, sizes, self.cost, &[], target);
        }
        let one = match target.shape {
            Shape::Gpu => launch::items(&self.kernel, 1, vec![n as i64], target),
            Shape::Cpu => launch::ranges(&self.kernel, n, n, Rest { len: 1, row: 0, slot: None }, target),
        };
        Work { scratch: vec![], launches: vec![one] }
    }
}
