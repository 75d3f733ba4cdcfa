//! Scans by work-groups, for GPUs: each group processes a part of a row, tile by tile, in local memory.
//!
//! NOTE [Scans in two launches]: the first launch computes the totals of the parts of rows. In the second one, each
//! group processes its part again, and writes it from the total of all earlier parts on. So the array is read twice and
//! written once: 12 bytes for a number of 4, where a copy moves 8, so at most 2/3 of the elements per second of a copy.
//! To read it only once, groups have to wait for the totals of earlier groups: NOTE [Scans in one launch]. OpenCL does
//! not guarantee that a group makes progress while another one waits for it, there is no way to ask a device, and the
//! failure is a kernel that never ends. So only devices that are known to do it get such kernels. A row that a single
//! group processes is read once anyway.

use super::emitter::Emitter;
use super::group_reduce::TURNS;
use super::launch::group;
use super::look_back::LookBack;
use super::rows::{EACH, group_launch, group_parts, groups, row_bytes, scratch};
use super::scan_tile::{TiledScan, places};
use super::target::Target;
use super::work::{Kernel, Launch, Work};
use crate::analysis::liveness::Step;
use crate::shared::scan::Scan;
use crate::text::names::names_at;
use accel_core::repr::ScalarType;

/// The kernels of scans by groups.
#[derive(Clone, Debug)]
pub struct GroupScan {
    types: Vec<ScalarType>,
    /// Writes a part, starting with the totals of the parts before it.
    write: Kernel,
    long: Long,
}

/// The method for rows of several parts.
#[derive(Clone, Debug)]
enum Long {
    /// A kernel for the totals of all parts, before the parts are written.
    Total(Kernel),
    /// The groups pass on the total of everything before a part.
    LookBack(LookBack),
}

impl GroupScan {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step, scan: &Scan) -> GroupScan {
        let types = scan.rows.columns();
        let scan = TiledScan { scan: *scan, types: &types, each: EACH };
        let long = match e.target.look_back {
            true => Long::LookBack(LookBack::new(e, s, &scan)),
            false => Long::Total(e.scan_group(s, &scan)),
        };
        GroupScan { write: e.write_group(s, &scan), long, types }
    }

    /// The launches for `n` rows, which are not short.
    pub fn work(&self, n: usize, len: usize, target: &Target) -> Work {
        let several = group_parts(n, len, target);
        let (parts, size) = match &self.long {
            Long::LookBack(l) if several.0 > 1 && l.part(target) < len => return l.work(n, len, target),
            Long::LookBack(_) => (1, len),
            Long::Total(_) => several,
        };
        let numbers = [size, len, parts];
        let mut launches = vec![];
        if let Long::Total(total) = &self.long
            && parts > 1
        {
            launches.push(groups(total, &self.types, n * parts, numbers, target));
        }
        launches.push(self.tiles(n * parts, numbers, target));
        Work { scratch: scratch(&self.types, parts * n), launches }
    }

    /// A launch of `count` groups that write.
    fn tiles(&self, count: usize, numbers: [usize; 3], target: &Target) -> Launch {
        let room = target.local_memory / row_bytes(&self.types);
        let mut size = group(target);
        // Not `groups`, because there is a tile in local memory as well.
        while size > 1 && size + places(size * EACH) > room {
            size /= 2;
        }
        group_launch(&self.write, &self.types, count, size, &[size, places(size * EACH)], numbers)
    }
}

impl Emitter<'_> {
    /// Computes the total of part `g` of row `r`, as in a reduction, in the order of a scan.
    fn scan_group(&mut self, s: &Step, scan: &TiledScan) -> Kernel {
        self.group_kernel(s, &format!("scan_{}_group", s.number), scan.scan.outer, |w| {
            w.part_bounds();
            w.locals(scan.types);
            let Scan { outer, reverse, rows, .. } = scan.scan;
            w.reduce_part(scan.types, outer, rows, reverse, TURNS);
            w.braces("if (item == 0)", |w| w.leave_part(scan.types, &names_at("l", scan.types, "0")));
        })
    }

    /// Writes part `g` of row `r`, starting with the totals of the parts before it.
    fn write_group(&mut self, s: &Step, scan: &TiledScan) -> Kernel {
        self.group_kernel(s, &format!("scan_{}_write_group", s.number), scan.scan.outer, |w| {
            w.part_bounds();
            w.scan_part(scan);
        })
    }
}
