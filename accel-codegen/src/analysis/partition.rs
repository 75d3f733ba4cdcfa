//! The partition of work into tasks for the threads of a processor. It depends on sizes only, never on the number of threads; so the order in
//! which partial results are combined does not depend on that number either.

use super::cost::{SMALL, TASK};

/// How many positions a strip has: four of the largest vector registers of 64-bit numbers, so that sums do not wait for one
/// addition before the next.
pub const LANES: usize = 32;

/// Rows are split if there are fewer than this: more keep all threads busy by themselves.
const FEW_ROWS: usize = 16;

/// A task of strips takes at least about this many simple operations, of which several are done at once: fifty microseconds or more.
const STRIP_TASK: usize = 1 << 18;
/// At most this many tasks of strips: each has partial totals of its own.
const STRIP_TASKS: usize = 16;
/// The partial totals of all tasks take at most this many bytes, if there is more than one task.
const TOTALS: usize = 64 << 20;

/// How many of `n` positions, each of which takes about `cost` operations, a task has, if there are to be about `most` tasks at most.
pub fn task_size(n: usize, cost: usize, most: usize) -> usize {
    if n.saturating_mul(cost) < SMALL {
        return n;
    }
    // Whole cache lines where elements are cheap, so that tasks do not write to the same one.
    let lines = if cost <= TASK / 64 { 64 } else { 1 };
    (TASK / cost).max(n.div_ceil(most)).max(1).next_multiple_of(lines)
}

/// The length of the parts that rows of `len` elements are split into, if they are: about `most` parts of a row at most.
pub fn part_size(rows: usize, len: usize, cost: usize, most: usize) -> Option<usize> {
    let few = rows > 0 && rows < FEW_ROWS;
    (few && len >= 256 && len.saturating_mul(cost) >= SMALL).then(|| (TASK / cost).max(128).max(len.div_ceil(most)))
}

/// How many of `n` positions a task of strips has; `partial` are the bytes of its totals, `cost` is that of a position.
pub fn strip_size(n: usize, partial: usize, cost: usize) -> usize {
    let most = TOTALS.checked_div(partial).unwrap_or(STRIP_TASKS).clamp(1, STRIP_TASKS);
    n.div_ceil(most).max(STRIP_TASK / cost.max(1)).max(1).next_multiple_of(LANES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use accel_core::repr::MAX_SIZE;

    #[test]
    fn tasks_of_extreme_sizes() {
        let sizes = [0, 1, 31, 1 << 31, 1 << 48, MAX_SIZE];
        let costs = [0, 1, 1 << 18, (1 << 18) + 1, i64::MAX as usize, usize::MAX];
        for (n, cost) in sizes.into_iter().flat_map(|n| costs.map(|cost| (n, cost))) {
            for partial in [0, 64, 1 << 26, usize::MAX] {
                let size = strip_size(n, partial, cost);
                assert!(
                    size > 0 && size.is_multiple_of(LANES) && n.div_ceil(size) <= STRIP_TASKS,
                    "{n} {partial} {cost}"
                );
            }
            let size = task_size(n, cost.max(1), 64);
            assert!(n == 0 || size > 0 && n.div_ceil(size) <= 64, "{n} {cost}");
            let part = part_size(2, n, cost.max(1), 64);
            assert!(part.is_none_or(|size| n.div_ceil(size) <= 64), "{n} {cost}");
        }
    }
}
