//! Launches for rows, which are cut into parts for items and groups.

use super::launch::{self, GROUPS_PER_UNIT, busy, group};
use super::target::Target;
use super::work::{Kernel, Launch, Work, size_of};
use accel_core::repr::ScalarType;

/// The number of elements that each item of a group scans at a time. The totals of the items then go through a tree, once for all of
/// these elements; more need more local memory. Chosen.
pub const EACH: usize = 4;

/// The size of an element, in bytes.
pub fn row_bytes(types: &[ScalarType]) -> usize {
    types.iter().map(|t| size_of(*t, 1)).sum::<usize>().max(1)
}

/// A launch of `count` groups of a size, with local arrays of this many elements.
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

/// The smallest number of elements for an item. Each part is written and read once more, so it should be much more than one
/// element. Chosen.
pub const LEAST: usize = 16;

/// From this number of elements on, several items process a row, each with about this many. So they read adjacent
/// elements; items with a row each would not.
pub const SHORT: usize = 8;

/// The largest number of parts of a row for groups: 8 for each of 256 items, as one group combines the parts.
pub const MOST_PARTS: usize = 2048;

/// Work of a single launch.
pub fn one(launch: Launch) -> Work {
    Work { scratch: vec![], launches: vec![launch] }
}

/// Buffers for `n` elements.
pub fn scratch(types: &[ScalarType], n: usize) -> Vec<usize> {
    types.iter().map(|t| size_of(*t, n)).collect()
}

/// The size of the parts of `n` rows, if they are cut.
pub fn part_size(n: usize, len: usize, target: &Target) -> Option<usize> {
    let worth = n < busy(target) / 2 && len >= 4 * LEAST;
    // One item combines the parts of a row, so there are not many more parts than elements in each.
    worth.then(|| item_parts(n, len, target).1.max(len.isqrt() / 4))
}

/// The number of parts of each of `n` rows, and the number of elements of each, for items.
pub fn item_parts(n: usize, len: usize, target: &Target) -> (usize, usize) {
    let size = len.div_ceil(busy(target).div_ceil(n)).max(LEAST).min(len);
    (len.div_ceil(size), size)
}

/// A launch for the parts of `n` rows, with groups as wide as the number of rows.
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

/// Whether a group processes a row, or a part of it, faster than an item.
pub fn by_groups(n: usize, len: usize, target: &Target) -> bool {
    len >= 256 || (len >= 64 && n < busy(target))
}

/// A launch of teams for `n` rows, if the rows are short, or if there are so many that none of them needs more than a
/// group.
pub fn teams(kernel: &Kernel, types: &[ScalarType], n: usize, len: usize, target: &Target) -> Option<Launch> {
    let most = group(target).min(target.local_memory / row_bytes(types)).max(1);
    let size = len.div_ceil(SHORT).next_power_of_two().min(most);
    if len >= 64 && (n * size < busy(target) || size == most) {
        return None;
    }
    let teams = most / size;
    Some(group_launch(kernel, types, n.div_ceil(teams), teams * size, &[teams * size], [n, len, size]))
}

/// The number of parts of each of `n` rows, and the number of elements of each, for groups.
pub fn group_parts(n: usize, len: usize, target: &Target) -> (usize, usize) {
    let wanted = (target.units * GROUPS_PER_UNIT).div_ceil(n);
    // With more parts, combining them would take longer than computing them.
    let most = len.div_ceil(group(target) * EACH * 2);
    // The parts of groups start at whole lines of memory.
    let size = len.div_ceil(wanted.min(most).clamp(1, MOST_PARTS)).next_multiple_of(group(target));
    (len.div_ceil(size), size)
}

/// A launch of `count` groups.
pub fn groups(kernel: &Kernel, types: &[ScalarType], count: usize, numbers: [usize; 3], target: &Target) -> Launch {
    let size = group(target).min(target.local_memory / row_bytes(types)).max(1);
    group_launch(kernel, types, count, size, &[size], numbers)
}

/// A launch that combines the parts of each row.
pub fn joined(kernel: &Kernel, n: usize, len: usize, parts: usize, target: &Target) -> Launch {
    launch::items(kernel, n, vec![parts as i64, len as i64, n as i64], target)
}

/// A launch for the parts of all rows.
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
