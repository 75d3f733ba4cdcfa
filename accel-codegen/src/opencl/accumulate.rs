//! Statements with sums: loops whose work-items also add to memory, see NOTE [Additions at the same time].
//!
//! NOTE [Copies of sums]: if many items add to few numbers, most of them wait for each other. So if the sums are small,
//! each item has a copy of them, adds to it alone, and adds the copy to the sums at the end. There are as many items as
//! keep the device busy, but so few that the copies take little of the time and of the memory.

use super::emitter::{Emitter, Tasks};
use super::launch;
use super::rows::one;
use super::sums::is_atomic;
use super::target::Target;
use super::work::{Kernel, Sizes, Work, size_of};
use crate::analysis::liveness::Step;
use crate::cost_model::{COPIES, PER_COPIED};
use crate::shared::accumulate::Accumulate;
use crate::text::primitives;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Monoid};

/// The number of elements between two copies, so that they have no cache line in common.
const APART: usize = 16;

/// The kernels of a statement with sums.
#[derive(Clone, Debug)]
pub struct Accumulation {
    kernel: Kernel,
    cost: usize,
    /// The kernel for copies; if there is none, one item executes the whole statement.
    copies: Option<Kernel>,
    /// The columns of the sums.
    columns: Vec<(ArrayId, ScalarType)>,
}

impl Accumulation {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step) -> Option<Accumulation> {
        let a = Accumulate::new(&s.stmt.op)?;
        let function = format!("accumulate_{}", s.number);
        e.function(s, &function, |w| {
            w.aliased = s.aliased();
            a.sums.iter().for_each(|sum| w.hoist_output(*sum, true));
            w.element_at(&function, a.to, a.rank, a.body)
        });
        let kernel = e.loop_kernel(s, &function, a.to, false);
        let (dialect, columns) = (e.declarations.dialect, a.columns(e.program));
        let atomic = columns.iter().all(|(.., t)| is_atomic(*t, dialect));
        let copies = atomic.then(|| {
            let name = format!("accumulate_{}_copies", s.number);
            e.function(s, &format!("{name}_into"), |w| {
                (w.aliased, w.alone) = (s.aliased(), true);
                w.add_into(&format!("{name}_into"), &a)
            });
            e.task_function(s, &name, |w| w.add_by_copies(&name, &a));
            e.kernel(&name, a.rank, Tasks::Ranges)
        });
        let columns = columns.into_iter().map(|(a, _, t)| (a, t)).collect();
        Some(Accumulation { kernel, cost: a.body.cost(), copies, columns })
    }

    /// The launch for an index space.
    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let n = launch::count(sizes.space);
        if n == 0 {
            return Work::default();
        }
        let Some(copies) = &self.copies else {
            return one(launch::items(&self.kernel, 1, vec![n as i64], target));
        };
        let size = |a: &ArrayId| launch::count(&sizes.extents[*a]) + APART;
        let numbers = self.columns.iter().map(|(a, _)| size(a) - APART).sum::<usize>();
        let bytes = self.columns.iter().map(|(a, t)| size_of(*t, size(a))).sum::<usize>();
        let wanted = n.min(launch::busy(target));
        let most = (n.saturating_mul(self.cost) / PER_COPIED / numbers.max(1)).min(COPIES / bytes.max(1));
        // Far fewer items, or a single one, take longer than atomic operations.
        if most < wanted / 4 || wanted < 2 || most < 2 {
            return launch::loop_(&self.kernel, sizes, target);
        }
        let each = n.div_ceil(wanted.min(most));
        let items = n.div_ceil(each);
        let scratch = self.columns.iter().map(|(a, t)| size_of(*t, size(a) * items)).collect();
        Work { scratch, launches: vec![launch::ranges(copies, n, each, 1, target)] }
    }
}

impl Writer<'_> {
    /// Executes the body for the indices `from..to` of a task with the copies number `slot`, and adds these to the sums.
    fn add_by_copies(&mut self, name: &str, s: &Accumulate) {
        self.sizes_of_sums(s);
        let columns = s.columns(self.program);
        for (k, (a, c, t)) in columns.iter().enumerate() {
            let start = primitives::constant(self.declarations, Monoid::Sum.neutral(*t));
            self.scratch(k, &t.to_string());
            self.line(format!("global {t} *const own{a}_{c} = s{k} + task->slot * (m{a} + {APART});"));
            self.line(format!("for (i64 q = 0; q < m{a}; q++) own{a}_{c}[q] = {start};"));
        }
        let own: String = columns.iter().map(|(a, c, _)| format!(", own{a}_{c}")).collect();
        let into = format!("{name}_into");
        let arguments = self.task_arguments(&into, "task");
        self.line(format!("if ({into}({arguments}{own})) return 1;"));
        for (a, c, t) in columns {
            self.hoist_column(a, c, "");
            self.braces(&format!("for (i64 q = 0; q < m{a}; q++)"), |w| {
                let x = format!("own{a}_{c}[q]");
                w.braces(&format!("if ({x} != 0)"), |w| w.add_to_sum(&format!("a{a}_{c}[q]"), t, &x));
            });
        }
    }
}
