//! Launches: the share of the work for each work-item.

use super::loads::AT_ONCE;
use super::target::{Shape, Target};
use super::work::{Kernel, Launch, Sizes, Work, size_of};
use crate::analysis::partition;
use crate::cost_model::LARGE;
use accel_core::repr::ScalarType;

// NOTE [Work-groups on processors]: if a device is a processor, its driver gives each thread several groups at once.
// pocl 3.1 gives one of two threads half of the remaining groups, or 64 groups if that is less. With some tens of
// groups, each thread would get half of a statement, and the statement would take as long as the slower thread. So
// there are more groups than the native backend has tasks, which its threads take one by one.

/// The approximate limit for the number of groups of a statement on a processor.
pub const TASKS: usize = 512;

/// The number of work-items of a group, if the device supports it.
const GROUP: usize = 256;

/// The number of work-groups that keep a compute unit of a GPU busy.
pub const GROUPS_PER_UNIT: usize = 8;

/// The size of an index space.
pub fn count(space: &[i64]) -> usize {
    space.iter().map(|n| *n as usize).product()
}

/// A launch of items in one dimension, in whole groups on a GPU.
pub fn items(kernel: &Kernel, count: usize, numbers: Vec<i64>, target: &Target) -> Launch {
    let group = group(target).min(count.next_power_of_two());
    let kernel = kernel.clone();
    Launch { kernel, global: [count.next_multiple_of(group), 1], group: [group, 1], numbers, local: vec![] }
}

/// The number of items that keep a GPU busy.
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

/// The fields of range tasks besides the range.
#[derive(Clone, Copy)]
pub struct Rest {
    pub len: usize,
    pub row: usize,
    /// If absent, the number of the item.
    pub slot: Option<usize>,
}

/// A launch for the positions `0..n`, in parts of `size`.
pub fn ranges(kernel: &Kernel, n: usize, size: usize, rest: Rest, target: &Target) -> Launch {
    let slot = rest.slot.map_or(-1, |s| s as i64);
    let numbers = vec![size as i64, n as i64, rest.len as i64, rest.row as i64, slot];
    items(kernel, n.div_ceil(size.max(1)), numbers, target)
}

/// A launch for the positions `0..n`, which are independent of each other.
pub fn positions(kernel: &Kernel, n: usize, cost: usize, len: usize, target: &Target) -> Launch {
    let size = match target.shape {
        Shape::Gpu => 1,
        Shape::Cpu => partition::task_size(n, cost, TASKS),
    };
    ranges(kernel, n, size, Rest { len, row: 0, slot: None }, target)
}

/// A launch of a loop with at most this number of items, each of which computes more elements.
pub fn with_at_most(most: usize, launch: &Launch, target: &Target) -> Launch {
    let most = most.max(1);
    if launch.global[0] <= most {
        return launch.clone();
    }
    match launch.numbers.len() {
        1 => {
            // A grid-stride loop: each item goes on by the number of items.
            let group = launch.group[0].min(1 << most.ilog2());
            Launch { global: [most / group * group, 1], group: [group, 1], ..launch.clone() }
        }
        // Ranges.
        _ => {
            let mut numbers = launch.numbers.clone();
            let n = numbers[1] as usize;
            let size = n.div_ceil(most);
            numbers[0] = size as i64;
            Launch { local: launch.local.clone(), ..items(&launch.kernel, n.div_ceil(size), numbers, target) }
        }
    }
}

/// A launch for all positions of a loop. Its result can be written in pieces if `pieces` has columns.
pub fn loop_(kernel: &Kernel, sizes: &Sizes, cost: usize, pieces: &[ScalarType], target: &Target) -> Work {
    let n = count(sizes.space);
    if n == 0 {
        return Work::default();
    }
    let launch = match target.shape {
        Shape::Gpu => {
            // An item computes several elements only if the whole device is busy nevertheless, for several rounds.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parameters::Arg;

    #[test]
    fn fewer_items_compute_the_same_positions() {
        let kernel = Kernel { name: "k".into(), args: [Arg::Tape].into(), part: None };
        let target = |shape| Target {
            shape,
            units: 4,
            largest_group: 256,
            local_memory: 32 << 10,
            wide: false,
            atomics_64: true,
            look_back: false,
        };
        for n in [1, 5, 255, 256, 257, 100_000] {
            for most in [0, 1, 7, 256, 300, 1 << 20] {
                let (gpu, cpu) = (target(Shape::Gpu), target(Shape::Cpu));
                let strided = with_at_most(most, &items(&kernel, n, vec![n as i64], &gpu), &gpu);
                assert!(strided.global[0] <= most.max(1), "{strided:?}");
                assert!(strided.global[0] > 0 && strided.global[0].is_multiple_of(strided.group[0]), "{strided:?}");
                for target in [gpu, cpu] {
                    let rest = Rest { len: 1, row: 0, slot: None };
                    let ranges = with_at_most(most, &ranges(&kernel, n, 3, rest, &target), &target);
                    let (size, count) = (ranges.numbers[0] as usize, ranges.numbers[1] as usize);
                    assert_eq!(count, n);
                    assert!(size > 0 && size * ranges.global[0] >= n, "{ranges:?}");
                    // Whole groups can be more than the limit, but not twice as many.
                    assert!(ranges.global[0] < 2 * most.max(1) || ranges.global[0] < 2 * n, "{ranges:?}");
                }
            }
        }
    }
}
