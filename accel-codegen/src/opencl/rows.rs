//! Launches for rows: how they are cut into parts for items, groups and tasks.

use super::launch::{self, GROUPS_PER_UNIT, TASKS, busy, group};
use super::target::{Shape, Target};
use super::work::{Kernel, Launch, Work, size_of};
use crate::analysis::partition;
use accel_core::repr::ScalarType;

/// How many elements each item of a group scans at a time.
pub const EACH: usize = 4;

/// The bytes of an element.
pub fn row_bytes(types: &[ScalarType]) -> usize {
    types.iter().map(|t| size_of(*t, 1)).sum::<usize>().max(1)
}

/// A launch of `count` groups of a size, with several local arrays of so many elements.
pub fn group_launch(
    kernel: &Kernel,
    types: &[ScalarType],
    count: usize,
    size: usize,
    local: &[usize],
    numbers: [usize; 3],
) -> Launch {
    Launch {
        kernel: kernel.clone(),
        global: [count * size, 1],
        group: [size, 1],
        numbers: numbers.map(|x| x as i64).to_vec(),
        local: local.iter().flat_map(|n| types.iter().map(|t| size_of(*t, *n))).collect(),
    }
}

/// The least elements for an item of a GPU.
pub const LEAST: usize = 16;

/// Rows of at least so many elements are done by several items, of which each has about as many: they read elements next to each other, which
/// items with a row each would not.
pub const SHORT: usize = 8;

/// How many parts a row is cut into for groups at most.
pub const MOST_PARTS: usize = 2048;

/// One launch is all.
pub fn one(launch: Launch) -> Work {
    Work { scratch: vec![], launches: vec![launch] }
}

/// Buffers for `n` elements.
pub fn scratch(types: &[ScalarType], n: usize) -> Vec<usize> {
    types.iter().map(|t| size_of(*t, n)).collect()
}

/// The size of the parts that `n` rows are cut into, if they are.
pub fn part_size(n: usize, len: usize, cost: usize, target: &Target) -> Option<usize> {
    match target.shape {
        Shape::Cpu => partition::part_size(n, len, cost, TASKS),
        Shape::Gpu => {
            let worth = n < busy(target) / 2 && len >= 4 * LEAST;
            // The parts of a row are combined by one item: there are not many more of them than elements in each.
            worth.then(|| item_parts(n, len, target).1.max(len.isqrt() / 4))
        }
    }
}

/// How many parts each of `n` rows has for items, and the elements of each.
pub fn item_parts(n: usize, len: usize, target: &Target) -> (usize, usize) {
    let size = len.div_ceil(busy(target).div_ceil(n)).max(LEAST).min(len);
    (len.div_ceil(size), size)
}

/// A launch for the parts of `n` rows, of groups that are as wide as there are rows.
pub fn across(kernel: &Kernel, n: usize, [size, len, parts]: [usize; 3], target: &Target) -> Launch {
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
pub fn by_groups(n: usize, len: usize, target: &Target) -> bool {
    len >= 256 || (len >= 64 && n < busy(target))
}

/// A launch of teams for `n` rows, if they are short, or if there are so many that none of them needs more than a group.
pub fn teams(kernel: &Kernel, types: &[ScalarType], n: usize, len: usize, target: &Target) -> Option<Launch> {
    let most = group(target).min(target.local_memory / row_bytes(types)).max(1);
    let size = len.div_ceil(SHORT).next_power_of_two().min(most);
    if len >= 64 && (n * size < busy(target) || size == most) {
        return None;
    }
    let teams = most / size;
    Some(group_launch(kernel, types, n.div_ceil(teams), teams * size, &[teams * size], [n, len, size]))
}

/// How many parts each of `n` rows has for groups, and the elements of each.
pub fn group_parts(n: usize, len: usize, target: &Target) -> (usize, usize) {
    let wanted = (target.units * GROUPS_PER_UNIT).div_ceil(n);
    // Not so many that combining them takes longer than making them.
    let most = len.div_ceil(group(target) * EACH * 2);
    // Groups begin where their items read whole lines of memory.
    let size = len.div_ceil(wanted.min(most).clamp(1, MOST_PARTS)).next_multiple_of(group(target));
    (len.div_ceil(size), size)
}

/// A launch of `count` groups.
pub fn groups(kernel: &Kernel, types: &[ScalarType], count: usize, numbers: [usize; 3], target: &Target) -> Launch {
    let size = group(target).min(target.local_memory / row_bytes(types)).max(1);
    group_launch(kernel, types, count, size, &[size], numbers)
}

/// What combines the parts of each row.
pub fn joined(kernel: &Kernel, n: usize, len: usize, parts: usize, target: &Target) -> Launch {
    launch::items(kernel, n, vec![parts as i64, len as i64, n as i64], target)
}

/// The parts of all rows.
pub fn in_parts(kernel: &Kernel, n: usize, len: usize, size: usize, target: &Target) -> Launch {
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
