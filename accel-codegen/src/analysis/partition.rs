//! Partitions work into tasks for the threads of a processor. The partition depends only on sizes, never on the number
//! of threads. So the order in which partial results are combined does not depend on that number either.

use crate::cost_model::{FEW_ROWS, LINE, ROW_PART, SERIAL, SPLIT_ROW, STRIP_TASK, STRIP_TASKS, TASK, TOTALS};
/// The number of positions of a task, for `n` positions that take about `cost` operations each, and about `most` tasks
/// at most.
pub fn task_size(n: usize, cost: usize, most: usize) -> usize {
    if n.saturating_mul(cost) < SERIAL {
        return n;
    }
    // If elements are cheap, tasks get whole cache lines, so that two tasks do not write to the same line.
    let lines = if cost <= TASK / LINE { LINE } else { 1 };
    (TASK / cost).max(n.div_ceil(most)).max(1).next_multiple_of(lines)
}

/// The length of the parts of rows with `len` elements, if rows are split; a row has about `most` parts at most.
pub fn part_size(rows: usize, len: usize, cost: usize, most: usize) -> Option<usize> {
    let few = rows > 0 && rows < FEW_ROWS;
    (few && len >= SPLIT_ROW && len.saturating_mul(cost) >= SERIAL)
        .then(|| (TASK / cost).max(ROW_PART).max(len.div_ceil(most)))
}

/// The number of positions of a task of strips, for `n` positions, `lanes` of which are executed together. `partial` is the
/// size of the task's totals in bytes, `cost` is that of a position.
pub fn strip_size(n: usize, partial: usize, cost: usize, lanes: usize) -> usize {
    let most = TOTALS.checked_div(partial).unwrap_or(STRIP_TASKS).clamp(1, STRIP_TASKS);
    n.div_ceil(most).max(STRIP_TASK / cost.max(1)).max(1).next_multiple_of(lanes.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost_model::LANES;
    use accel_core::repr::MAX_SIZE;

    #[test]
    fn tasks_of_extreme_sizes() {
        let sizes = [0, 1, 31, 1 << 31, 1 << 48, MAX_SIZE];
        let costs = [0, 1, 1 << 18, (1 << 18) + 1, i64::MAX as usize, usize::MAX];
        for (n, cost) in sizes.into_iter().flat_map(|n| costs.map(|cost| (n, cost))) {
            for (partial, lanes) in [0, 64, 1 << 26, usize::MAX].into_iter().flat_map(|p| [(p, 1), (p, LANES)]) {
                let size = strip_size(n, partial, cost, lanes);
                assert!(
                    size > 0 && size.is_multiple_of(lanes) && n.div_ceil(size) <= STRIP_TASKS,
                    "{n} {partial} {cost} {lanes}"
                );
            }
            let size = task_size(n, cost.max(1), 64);
            assert!(n == 0 || size > 0 && n.div_ceil(size) <= 64, "{n} {cost}");
            let part = part_size(2, n, cost.max(1), 64);
            assert!(part.is_none_or(|size| n.div_ceil(size) <= 64), "{n} {cost}");
        }
    }
}
