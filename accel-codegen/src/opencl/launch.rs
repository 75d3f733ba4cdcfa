//! Launches: the share of the work for each work-item.

use super::loads::AT_ONCE;
use super::target::Target;
use super::work::{Kernel, Launch, Sizes, Work};

/// The number of work-items of a group, if the device supports it: a multiple of the 32 or 64 items that go in lockstep, and the
/// largest group of AMD's cards.
const GROUP: usize = 256;

/// The number of work-groups that keep a compute unit of a GPU busy: 2048 items are as many as fit on one of NVIDIA's large cards.
pub const GROUPS_PER_UNIT: usize = 8;

/// The size of an index space.
pub fn count(space: &[i64]) -> usize {
    space.iter().map(|n| *n as usize).product()
}

/// A launch of items in one dimension, in whole groups.
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
    GROUP.min(target.largest_group).max(1)
}

/// A launch for the positions `0..n`, in parts of `size`. `len` is the length of rows.
pub fn ranges(kernel: &Kernel, n: usize, size: usize, len: usize, target: &Target) -> Launch {
    let numbers = [size, n, len].map(|x| x as i64).to_vec();
    items(kernel, n.div_ceil(size.max(1)), numbers, target)
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

/// A launch for all positions of a loop.
pub fn loop_(kernel: &Kernel, sizes: &Sizes, target: &Target) -> Work {
    let n = count(sizes.space);
    if n == 0 {
        return Work::default();
    }
    // An item computes several elements only if the whole device is busy nevertheless, for several rounds.
    let each = if n / AT_ONCE >= 4 * busy(target) { AT_ONCE } else { 1 };
    Work { scratch: vec![], launches: vec![items(kernel, n.div_ceil(each), vec![n as i64], target)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parameters::Arg;

    #[test]
    fn fewer_items_compute_the_same_positions() {
        let kernel = Kernel { name: "k".into(), args: [Arg::Tape].into() };
        let target = Target {
            units: 4,
            largest_group: 256,
            local_memory: 32 << 10,
            wide: false,
            atomics_64: true,
            look_back: false,
        };
        for n in [1, 5, 255, 256, 257, 100_000] {
            for most in [0, 1, 7, 256, 300, 1 << 20] {
                let strided = with_at_most(most, &items(&kernel, n, vec![n as i64], &target), &target);
                assert!(strided.global[0] <= most.max(1), "{strided:?}");
                assert!(strided.global[0] > 0 && strided.global[0].is_multiple_of(strided.group[0]), "{strided:?}");
                let ranges = with_at_most(most, &ranges(&kernel, n, 3, 1, &target), &target);
                let (size, count) = (ranges.numbers[0] as usize, ranges.numbers[1] as usize);
                assert_eq!(count, n);
                assert!(size > 0 && size * ranges.global[0] >= n, "{ranges:?}");
                // Whole groups can be more than the limit, but not twice as many.
                assert!(ranges.global[0] < 2 * most.max(1) || ranges.global[0] < 2 * n, "{ranges:?}");
            }
        }
    }
}
