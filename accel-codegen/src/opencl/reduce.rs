//! Reductions: by work-items, by groups, or as matrix products.

use super::emitter::{Emitter, Tasks};
use super::group_reduce;
use super::launch::{self, count};
use super::rows::{SHORT, across, group_parts, groups, in_parts, item_parts, joined, one, part_size, scratch, teams};
use super::target::Target;
use super::tiled_product::Tiled;
use super::work::{Kernel, Sizes, Work};
use crate::analysis::liveness::Step;
use crate::shared::interchanged_reduce::columns_nest;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Reduction};

/// From this number of adjacent rows on, neighbouring items process parts of neighbouring rows. So many numbers of 4 bytes are one
/// access to memory of NVIDIA's cards, 32 bytes; with fewer rows, a part of each access would be for nothing.
const SIDE_BY_SIDE: i64 = 8;

/// Up to this number, one item combines the parts of a row, one after the other; otherwise a group does. With fewer parts,
/// most of its items would have none. Chosen.
const ONE_BY_ONE: usize = 64;

/// The kernels of a reduction.
#[derive(Clone, Debug)]
pub struct ReducePlan {
    types: Vec<ScalarType>,
    rows: Kernel,
    /// Kernels for parts of rows, and for combining the parts, if groups do not do this.
    part: Option<Kernel>,
    join: Option<Kernel>,
    /// For contractions.
    tiled: Option<Tiled>,
    /// Kernels of groups: for a part, for combining parts, and for several short rows.
    groups: Option<[Kernel; 3]>,
    /// For parts of the rows of interchanged reductions.
    across: Option<Kernel>,
}

impl ReducePlan {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step, to: ArrayId, outer: usize, rows: &Reduction) -> ReducePlan {
        let fold = format!("fold_{}", s.number);
        let name = |what: &str| format!("{fold}_{what}");
        e.function(s, &fold, |w| w.fold(&fold, to, outer, rows));
        let in_columns = columns_nest(e.program, to, outer, rows).is_some();
        let in_groups = group_reduce::suits(rows);
        let (parts, joins) = (!in_groups, !in_groups || in_columns);
        if parts {
            e.task_function(s, &name("part"), |w| w.part(&fold, outer, rows, ""));
        }
        if joins {
            e.task_function(s, &name("join"), |w| w.join(to, rows));
        }
        e.task_function(s, &name("rows"), |w| w.fold_rows(&fold, to, outer, rows));
        let tiled = rows
            .contraction_of_computed_operands()
            .filter(|_| in_groups)
            .and_then(|c| Tiled::new(e, s, to, outer, rows, &c));
        let groups = in_groups.then(|| {
            [e.fold_group(s, to, outer, rows), e.join_group(s, to, outer, rows), e.fold_team(s, to, outer, rows)]
        });
        let across = (in_groups && in_columns).then(|| e.fold_across(s, to, outer, rows));
        ReducePlan {
            tiled,
            groups,
            across,
            types: e.program.arrays[to].columns.clone(),
            rows: e.kernel(&name("rows"), outer, Tasks::Ranges),
            part: parts.then(|| e.kernel(&name("part"), outer, Tasks::Parts)),
            join: joins.then(|| e.kernel(&name("join"), outer, Tasks::Rows)),
        }
    }

    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let (n, len) = (count(sizes.space), sizes.len as usize);
        if n == 0 {
            return Work::default();
        }
        let tiled = self.tiled.as_ref().and_then(|t| t.work(sizes, target));
        tiled
            .or_else(|| self.columns_by_items(sizes, n, len, target))
            .or_else(|| self.rows_by_groups(n, len, target))
            .unwrap_or_else(|| self.rows_by_items(n, len, target))
    }

    /// A launch of items that process parts of neighbouring rows.
    fn columns_by_items(&self, sizes: &Sizes, n: usize, len: usize, target: &Target) -> Option<Work> {
        let kernel = self.across.as_ref()?;
        if len == 0 || *sizes.space.last()? < SIDE_BY_SIDE {
            return None;
        }
        let (parts, size) = item_parts(n, len, target);
        let mut launches = vec![across(kernel, n, [size, len, parts], target)];
        match (&self.groups, &self.join) {
            (Some([_, join, _]), _) if parts > ONE_BY_ONE => {
                launches.push(groups(join, &self.types, n, [parts, len, 1], target));
            }
            (_, Some(join)) if parts > 1 => launches.push(joined(join, n, len, parts, target)),
            _ => {}
        }
        Some(Work { scratch: scratch(&self.types, parts * n), launches })
    }

    /// A launch of groups that process short rows, or parts of long rows.
    fn rows_by_groups(&self, n: usize, len: usize, target: &Target) -> Option<Work> {
        let [part, join, team] = self.groups.as_ref().filter(|_| len >= SHORT)?;
        if let Some(launch) = teams(team, &self.types, n, len, target) {
            return Some(one(launch));
        }
        let (parts, size) = group_parts(n, len, target);
        let mut launches = vec![groups(part, &self.types, n * parts, [size, len, parts], target)];
        if parts > 1 {
            launches.push(groups(join, &self.types, n, [parts, len, 1], target));
        }
        Some(Work { scratch: scratch(&self.types, parts * n), launches })
    }

    /// A launch of items that process rows, or parts of rows.
    fn rows_by_items(&self, n: usize, len: usize, target: &Target) -> Work {
        match (&self.part, &self.join, part_size(n, len, target)) {
            (Some(part), Some(join), Some(size)) => {
                let parts = len.div_ceil(size);
                let launches = vec![in_parts(part, n, len, size, target), joined(join, n, len, parts, target)];
                Work { scratch: scratch(&self.types, parts * n), launches }
            }
            _ => one(launch::ranges(&self.rows, n, 1, len, target)),
        }
    }
}
