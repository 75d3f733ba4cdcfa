//! Launches: the share of the work that each work-item gets.

use super::loads::AT_ONCE;
use super::target::{Shape, Target};
use super::work::{Kernel, Launch, Sizes, Work, size_of};
use crate::analysis::partition;
use crate::shared::nontemporal::LARGE;
use accel_core::repr::ScalarType;

// NOTE [Groups for the threads of a processor]
// A device that is a processor gives each thread several groups at once. pocl 3.1 gives one of two threads half of what is left, or 64 groups if
// that is less. With some tens of groups each thread would get half of a statement, which would take as long as the one that is held up.
// So there are more groups than the native backend has tasks, which its threads take one by one.

/// How many groups a statement has at most, about, on a processor.
pub const TASKS: usize = 512;

/// The work-items of a group, if the device takes so many.
const GROUP: usize = 256;

/// How many work-groups keep a compute unit of a GPU busy.
pub const GROUPS_PER_UNIT: usize = 8;

/// The size of an index space.
pub fn count(space: &[i64]) -> usize {
    space.iter().map(|n| *n as usize).product()
}

/// A launch of items of one dimension, in whole groups on a GPU.
pub fn items(kernel: &Kernel, count: usize, numbers: Vec<i64>, target: &Target) -> Launch {
    let group = group(target).min(count.next_power_of_two());
    let kernel = kernel.clone();
    Launch { kernel, global: [count.next_multiple_of(group), 1], group: [group, 1], numbers, local: vec![] }
}

/// How many items keep a GPU busy.
pub fn busy(target: &Target) -> usize {
    target.units * GROUPS_PER_UNIT * GROUP
}

/// The size of groups.
pub fn group(target: &Target) -> usize {
    match target.shape {
        Shape::Gpu => GROUP.min(target.largest_group).max(1),
        Shape::Cpu => 1,
    }
}

/// What tasks of ranges get beside the range.
#[derive(Clone, Copy)]
pub struct Rest {
    pub len: usize,
    pub row: usize,
    /// Otherwise the number of the item.
    pub slot: Option<usize>,
}

/// The positions `0..n` in parts of a size.
pub fn ranges(kernel: &Kernel, n: usize, size: usize, rest: Rest, target: &Target) -> Launch {
    let slot = rest.slot.map_or(-1, |s| s as i64);
    let numbers = vec![size as i64, n as i64, rest.len as i64, rest.row as i64, slot];
    items(kernel, n.div_ceil(size.max(1)), numbers, target)
}

/// The positions `0..n`, of which each is independent.
pub fn positions(kernel: &Kernel, n: usize, cost: usize, len: usize, target: &Target) -> Launch {
    let size = match target.shape {
        Shape::Gpu => 1,
        Shape::Cpu => partition::task_size(n, cost, TASKS),
    };
    ranges(kernel, n, size, Rest { len, row: 0, slot: None }, target)
}

/// All positions of a loop, of which the result can be written in pieces if it has columns.
pub fn loop_(kernel: &Kernel, sizes: &Sizes, cost: usize, pieces: &[ScalarType], target: &Target) -> Work {
    let n = count(sizes.space);
    if n == 0 {
        return Work::default();
    }
    let launch = match target.shape {
        Shape::Gpu => {
            // An item does several only if all of the device is busy nevertheless, for several turns.
            let each = if n / AT_ONCE >= 4 * busy(target) { AT_ONCE } else { 1 };
            items(kernel, n.div_ceil(each), vec![n as i64], target)
        }
        Shape::Cpu => {
            let bytes: usize = pieces.iter().map(|t| size_of(*t, n)).sum();
            let rest = Rest { len: 1, row: 0, slot: Some(usize::from(bytes >= LARGE)) };
            ranges(kernel, n, partition::task_size(n, cost, TASKS), rest, target)
        }
    };
    Work { scratch: vec![], launches: vec![launch] }
}
