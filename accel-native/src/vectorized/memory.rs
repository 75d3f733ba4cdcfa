//! Memory for lanes, which each thread keeps for its next batches.

use accel_core::repr::{Column, ScalarType};
use std::cell::RefCell;

/// The largest number of lanes.
pub const WIDTH: usize = 1024;

/// The number of columns that a thread keeps. Few functions have more registers.
const KEPT: usize = 128;

thread_local! {
    static FREE: RefCell<Vec<Column>> = const { RefCell::new(vec![]) };
}

/// Memory for `n` values of a type, with any contents. `None` if there is not enough memory.
pub fn take(t: ScalarType, n: usize) -> Option<Column> {
    // At the end of a thread, its list may be gone already.
    let kept = FREE.try_with(|free| {
        let mut free = free.borrow_mut();
        let k = free.iter().rposition(|column| column.ty() == t && column.len() >= n)?;
        Some(free.swap_remove(k))
    });
    kept.ok().flatten().or_else(|| Column::zeros(t, n.max(WIDTH)))
}

/// Keeps memory that is not needed any more.
pub fn give(column: Column) {
    let _ = FREE.try_with(|free| {
        let mut free = free.borrow_mut();
        if free.len() < KEPT && column.len() == WIDTH {
            free.push(column);
        }
    });
}
