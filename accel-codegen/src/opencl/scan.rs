//! Scans: by work-items, or by groups.

use super::emitter::{Emitter, Tasks};
use super::group_reduce;
use super::group_scan::GroupScan;
use super::launch::{self, count};
use super::rows::{by_groups, in_parts, joined, one, part_size, scratch};
use super::target::Target;
use super::work::{Kernel, Sizes, Work};
use crate::analysis::liveness::Step;
use crate::shared::scan::Scan;
use accel_core::repr::ScalarType;

/// The kernels of a scan.
#[derive(Clone, Debug)]
pub struct Scanning {
    types: Vec<ScalarType>,
    some: bool,
    rows: Kernel,
    part: Kernel,
    carry: Kernel,
    write: Kernel,
    /// Kernels of groups.
    groups: Option<GroupScan>,
}

impl Scanning {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step, scan: &Scan) -> Scanning {
        let Scan { outer, rows, .. } = *scan;
        let function = format!("scan_{}", s.number);
        let name = |what: &str| format!("{function}_{what}");
        e.function(s, &function, |w| w.scan(&function, scan));
        e.task_function(s, &name("rows"), |w| w.scan_rows(&function, scan));
        e.task_function(s, &name("part"), |w| w.part(&function, outer, rows, scan.total_arguments()));
        e.task_function(s, &name("carry"), |w| w.carry(scan));
        e.task_function(s, &name("write"), |w| w.write_part(&function, scan));
        let groups = (!scan.down && group_reduce::suits(rows)).then(|| GroupScan::new(e, s, scan));
        Scanning {
            groups,
            types: rows.columns(),
            some: rows.init.is_some(),
            rows: e.kernel(&name("rows"), outer, Tasks::Ranges),
            part: e.kernel(&name("part"), outer, Tasks::Parts),
            carry: e.kernel(&name("carry"), outer, Tasks::Rows),
            write: e.kernel(&name("write"), outer, Tasks::Parts),
        }
    }

    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let (n, len) = (count(sizes.space), sizes.len as usize);
        if n == 0 || (len == 0 && !self.some) {
            return Work::default();
        }
        if let Some(groups) = self.groups.as_ref().filter(|_| by_groups(n, len, target)) {
            return groups.work(n, len, target);
        }
        match part_size(n, len, target) {
            None => one(launch::ranges(&self.rows, n, 1, len, target)),
            Some(size) => {
                let parts = len.div_ceil(size);
                let launches = vec![
                    in_parts(&self.part, n, len, size, target),
                    joined(&self.carry, n, len, parts, target),
                    in_parts(&self.write, n, len, size, target),
                ];
                Work { scratch: scratch(&self.types, parts * n), launches }
            }
        }
    }
}
