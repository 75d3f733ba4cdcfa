//! Reductions and scans by tasks: row by row, or each row in parts whose results are combined in order.

use super::emit::{Emitter, Tasks};
use super::group;
use super::launch::{self, GROUPS_PER_UNIT, Rest, TASKS, busy, count, group};
use super::product::Product;
use super::scan::{self, GroupScan};
use super::tiles::Tiled;
use super::{Kernel, Launch, Shape, Sizes, Target, Work, size_of};
use crate::code::Writer;
use crate::columns::{self, in_columns};
use crate::cost::cost;
use crate::kernels::{elements, names};
use crate::liveness::Step;
use crate::tasks;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Rows};

/// The least elements for an item of a GPU.
const LEAST: usize = 16;

/// Rows of at least so many elements are done by several items, of which each has about as many: they read elements next to each other, which
/// items with a row each would not.
const SHORT: usize = 8;

/// Where so many rows at least lie side by side, neighbouring items do parts of neighbouring rows.
const SIDE_BY_SIDE: i64 = 8;

/// So many parts of a row are combined by one item, more by a group.
const ONE_BY_ONE: usize = 64;

/// How many parts a row is cut into for groups at most.
const MOST_PARTS: usize = 2048;

/// The kernels of a reduction.
#[derive(Clone, Debug)]
pub struct Reduction {
    types: Vec<ScalarType>,
    cost: usize,
    rows: Kernel,
    /// Parts of rows, and what combines them, where no groups do that.
    part: Option<Kernel>,
    join: Option<Kernel>,
    /// For rows that are columns in memory: NOTE [Reducing columns].
    columns: Option<[Kernel; 2]>,
    /// For contractions.
    product: Option<Product>,
    tiled: Option<Tiled>,
    /// For work-groups: a part, what combines parts, and several short rows.
    groups: Option<[Kernel; 3]>,
    /// For parts of rows that are columns in memory.
    across: Option<Kernel>,
}

impl Reduction {
    /// Prints them.
    pub fn new(e: &mut Emitter, s: &Step, to: ArrayId, outer: usize, rows: &Rows) -> Reduction {
        let fold = format!("fold_{}", s.number);
        let name = |what: &str| format!("{fold}_{what}");
        e.function(s, &fold, |w| w.fold(&fold, to, outer, rows));
        let gpu = e.target.shape == Shape::Gpu;
        let (in_columns, in_groups) = (in_columns(outer, rows), gpu && group::suits(rows));
        let (parts, joins) = (!in_groups, !in_groups || in_columns);
        if parts {
            e.task_function(s, &name("part"), |w| w.part(&fold, to, outer, ""));
        }
        if joins {
            e.task_function(s, &name("join"), |w| w.join(to, rows));
        }
        let side_by_side = in_columns && !gpu;
        if side_by_side {
            let columns = name("columns");
            e.function(s, &columns, |w| w.fold_side_by_side(&columns, to, outer, rows));
            e.task_function(s, &name("column_part"), |w| w.column_part(&columns, to, outer));
            e.task_function(s, &name("column_join"), |w| w.column_join(to, rows));
            e.task_function(s, &name("rows"), |w| w.fold_columns(&columns, to, outer, rows));
        } else {
            e.task_function(s, &name("rows"), |w| w.fold_rows(&fold, to, outer, rows));
        }
        let product = rows.contraction().filter(|_| !gpu).map(|c| Product::new(e, s, to, outer, rows, &c));
        let tiled =
            rows.computed_contraction().filter(|_| in_groups).and_then(|c| Tiled::new(e, s, to, outer, rows, &c));
        let groups = in_groups.then(|| {
            [e.fold_group(s, to, outer, rows), e.join_group(s, to, outer, rows), e.fold_team(s, to, outer, rows)]
        });
        let across = (in_groups && in_columns).then(|| e.fold_across(s, to, outer, rows));
        Reduction {
            product,
            tiled,
            groups,
            across,
            types: e.program.arrays[to].columns.clone(),
            cost: cost(&rows.element.instrs) + cost(&rows.op.instrs),
            rows: e.kernel(&name("rows"), outer, Tasks::Ranges),
            part: parts.then(|| e.kernel(&name("part"), outer, Tasks::Parts)),
            join: joins.then(|| e.kernel(&name("join"), outer, Tasks::Rows)),
            columns: side_by_side
                .then(|| ["column_part", "column_join"].map(|n| e.kernel(&name(n), outer, Tasks::Ranges))),
        }
    }

    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let (n, len) = (count(sizes.space), sizes.len as usize);
        if n == 0 {
            return Work::default();
        }
        let product = self.product.as_ref().and_then(|p| p.work(sizes, target));
        product
            .or_else(|| self.tiled.as_ref()?.work(sizes, target))
            .or_else(|| self.columns_by_tasks(n, len, target))
            .or_else(|| self.columns_by_items(sizes, n, len, target))
            .or_else(|| self.rows_by_groups(n, len, target))
            .unwrap_or_else(|| self.rows_by_items(n, len, target))
    }

    /// Tasks that go through parts of neighbouring rows together: NOTE [Reducing columns].
    fn columns_by_tasks(&self, n: usize, len: usize, target: &Target) -> Option<Work> {
        let [part, join] = self.columns.as_ref()?;
        let (parts, size) = columns::parts(n, len)?;
        let all = Rest { len, row: n, slot: None };
        let one_by_one = Rest { len, row: n, slot: Some(parts) };
        let launches = vec![
            launch::ranges(part, len, size, all, target),
            launch::ranges(join, n, tasks::task_size(n, self.cost * parts, TASKS), one_by_one, target),
        ];
        Some(Work { scratch: scratch(&self.types, parts * n), launches })
    }

    /// Items that do parts of neighbouring rows.
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

    /// Groups that do short rows, or parts of long ones.
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

    /// Items that do rows, or parts of them.
    fn rows_by_items(&self, n: usize, len: usize, target: &Target) -> Work {
        match (&self.part, &self.join, part_size(n, len, self.cost, target)) {
            (Some(part), Some(join), Some(size)) => {
                let parts = len.div_ceil(size);
                let launches = vec![in_parts(part, n, len, size, target), joined(join, n, len, parts, target)];
                Work { scratch: scratch(&self.types, parts * n), launches }
            }
            _ => one(launch::positions(&self.rows, n, self.cost.saturating_mul(len.max(1)), len, target)),
        }
    }
}

/// The kernels of a scan.
#[derive(Clone, Debug)]
pub struct Scanning {
    types: Vec<ScalarType>,
    cost: usize,
    some: bool,
    rows: Kernel,
    part: Kernel,
    carry: Kernel,
    write: Kernel,
    /// For work-groups.
    groups: Option<GroupScan>,
}

impl Scanning {
    /// Prints them.
    pub fn new(e: &mut Emitter, s: &Step, to: ArrayId, outer: usize, reverse: bool, rows: &Rows) -> Scanning {
        let scan = format!("scan_{}", s.number);
        let name = |what: &str| format!("{scan}_{what}");
        e.function(s, &scan, |w| w.scan(&scan, to, outer, reverse, rows));
        e.task_function(s, &name("rows"), |w| w.scan_rows(&scan, to, outer, reverse, rows));
        e.task_function(s, &name("part"), |w| w.part(&scan, to, outer, ", 0, task->len, 0"));
        e.task_function(s, &name("carry"), |w| w.carry(to, reverse, rows));
        e.task_function(s, &name("write"), |w| w.write_part(&scan, to, outer, rows));
        let gpu = e.target.shape == Shape::Gpu;
        let groups = (gpu && group::suits(rows)).then(|| GroupScan::new(e, s, to, outer, reverse, rows));
        Scanning {
            groups,
            types: e.program.arrays[to].columns.clone(),
            cost: cost(&rows.element.instrs) + cost(&rows.op.instrs),
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
        match part_size(n, len, self.cost, target) {
            None => one(launch::positions(&self.rows, n, self.cost.saturating_mul(len.max(1)), len, target)),
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

/// One launch is all.
pub fn one(launch: Launch) -> Work {
    Work { scratch: vec![], launches: vec![launch] }
}

/// Buffers for `n` elements.
pub fn scratch(types: &[ScalarType], n: usize) -> Vec<usize> {
    types.iter().map(|t| size_of(*t, n)).collect()
}

/// The size of the parts that `n` rows are cut into, if they are.
fn part_size(n: usize, len: usize, cost: usize, target: &Target) -> Option<usize> {
    match target.shape {
        Shape::Cpu => tasks::part_size(n, len, cost, TASKS),
        Shape::Gpu => {
            let worth = n < busy(target) / 2 && len >= 4 * LEAST;
            // The parts of a row are combined by one item: there are not many more of them than elements in each.
            worth.then(|| item_parts(n, len, target).1.max(len.isqrt() / 4))
        }
    }
}

/// How many parts each of `n` rows has for items, and the elements of each.
fn item_parts(n: usize, len: usize, target: &Target) -> (usize, usize) {
    let size = len.div_ceil(busy(target).div_ceil(n)).max(LEAST).min(len);
    (len.div_ceil(size), size)
}

/// A launch for the parts of `n` rows, of groups that are as wide as there are rows.
fn across(kernel: &Kernel, n: usize, [size, len, parts]: [usize; 3], target: &Target) -> Launch {
    let all = group(target);
    let wide = all.min(n.next_power_of_two());
    let high = (all / wide).min(parts.next_power_of_two());
    Launch {
        kernel: kernel.clone(),
        global: [n.next_multiple_of(wide), parts.next_multiple_of(high)],
        group: [wide, high],
        numbers: [size, len, parts, n].map(|x| x as i64).to_vec(),
        local: vec![],
    }
}

/// Whether a group does more for a row, or a part of it, than an item would.
fn by_groups(n: usize, len: usize, target: &Target) -> bool {
    len >= 256 || (len >= 64 && n < busy(target))
}

/// A launch of teams for `n` rows, if they are short, or if there are so many that none of them needs more than a group.
fn teams(kernel: &Kernel, types: &[ScalarType], n: usize, len: usize, target: &Target) -> Option<Launch> {
    let most = group(target).min(target.local_memory / scan::row_bytes(types)).max(1);
    let size = len.div_ceil(SHORT).next_power_of_two().min(most);
    if len >= 64 && (n * size < busy(target) || size == most) {
        return None;
    }
    let teams = most / size;
    Some(scan::group_launch(kernel, types, n.div_ceil(teams), teams * size, &[teams * size], [n, len, size]))
}

/// How many parts each of `n` rows has for groups, and the elements of each.
pub fn group_parts(n: usize, len: usize, target: &Target) -> (usize, usize) {
    let wanted = (target.units * GROUPS_PER_UNIT).div_ceil(n);
    // Not so many that combining them takes longer than making them.
    let most = len.div_ceil(group(target) * scan::EACH * 2);
    // Groups begin where their items read whole lines of memory.
    let size = len.div_ceil(wanted.min(most).clamp(1, MOST_PARTS)).next_multiple_of(group(target));
    (len.div_ceil(size), size)
}

/// A launch of `count` groups.
pub fn groups(kernel: &Kernel, types: &[ScalarType], count: usize, numbers: [usize; 3], target: &Target) -> Launch {
    let size = group(target).min(target.local_memory / scan::row_bytes(types)).max(1);
    scan::group_launch(kernel, types, count, size, &[size], numbers)
}

/// What combines the parts of each row.
fn joined(kernel: &Kernel, n: usize, len: usize, parts: usize, target: &Target) -> Launch {
    launch::items(kernel, n, vec![parts as i64, len as i64, n as i64], target)
}

/// The parts of all rows.
fn in_parts(kernel: &Kernel, n: usize, len: usize, size: usize, target: &Target) -> Launch {
    let parts = len.div_ceil(size);
    let group = group(target).min(parts.next_power_of_two());
    Launch {
        kernel: kernel.clone(),
        global: [parts.next_multiple_of(group), n],
        group: [group, 1],
        numbers: vec![size as i64, len as i64, parts as i64],
        local: vec![],
    }
}

impl Writer<'_> {
    /// Combines the `slot` parts of the rows `from..to` of all `row` rows, element by element.
    pub fn column_join(&mut self, to: ArrayId, rows: &Rows) {
        let types = self.columns(to);
        let (y, z) = (names("y", &types), names("z", &types));
        self.initial(&z, &types, rows, &[&rows.op]);
        self.hoist_output(to, false);
        self.state(&types);
        let part = |at: &str| -> Vec<String> { (0..types.len()).map(|c| format!("s{c}[{at}]")).collect() };
        self.braces("for (i64 p = task->from; p < task->to; p++)", |w| {
            w.declare(&y, &types);
            let some = rows.init.is_some();
            w.assign(&y, &if some { z } else { part("p") });
            w.braces(&format!("for (i64 i = {}; i < task->slot; i++)", !some as u8), |w| {
                w.code(&rows.op, &[y.clone(), part("i * task->row + p")].concat(), &y);
            });
            w.assign(&elements(to, types.len(), "p"), &y);
        });
    }
}
