//! Tasks of generated code on all threads.

use crate::abi::{Array, Function, Task};
use crate::threads;
use std::cell::Cell;

/// Calls a kernel for tasks, in parallel. If tasks fail, the record of the first one is copied to the caller's record,
/// which has `length` numbers.
///
/// # Safety
/// The tasks can run at the same time with this table of arrays, and the caller's record is large enough.
pub unsafe fn run_tasks(
    f: Function,
    arrays: *const Array,
    tasks: &[Task],
    (fault, length): (*mut i64, usize),
) -> Result<(), ()> {
    let (arrays, first) = (SharedArrays(arrays), SharedTasks(tasks.as_ptr()));
    let one = move |k: usize| {
        // SAFETY: the caller's guarantee. There is a task `k`, and the record belongs to it alone.
        with_record(length, |record| unsafe { f(arrays.get(), first.get().add(k), record) })
    };
    threads::each(tasks.len(), one).map_err(|record| {
        // SAFETY: the caller's guarantee.
        unsafe { fault.copy_from_nonoverlapping(record.as_ptr(), length) }
    })
}

/// Calls generated code with a record of `length` numbers. Returns the record if the code reports a failure.
pub fn with_record(length: usize, f: impl FnOnce(*mut i64) -> i32) -> Result<(), Vec<i64>> {
    // The record stays all zero, as code writes to it only if it fails. So it is reused: there are many tasks, and some
    // are as short as an allocation.
    thread_local! { static RECORD: Cell<Vec<i64>> = const { Cell::new(vec![]) } }
    // When a thread ends, it may have lost its record already.
    let mut record = RECORD.try_with(Cell::take).unwrap_or_default();
    record.resize(length, 0);
    if f(record.as_mut_ptr()) != 0 {
        return Err(record);
    }
    let _ = RECORD.try_with(|kept| kept.set(record));
    Ok(())
}

macro_rules! shared {
    ($($(#[$doc:meta])* $name:ident($address:ty);)*) => {$(
        $(#[$doc])*
        pub struct $name(pub $address);
        // SAFETY: used only while a parallel operation runs. Behind the address, nothing is written except the parts of arrays or of
        // partial results that belong to a single task.
        unsafe impl Sync for $name {}
        // SAFETY: as above. A thread that has one after the operation only drops it.
        unsafe impl Send for $name {}

        impl $name {
            /// A method, so that closures capture the whole value.
            pub fn get(&self) -> $address {
                self.0
            }
        }
    )*};
}
shared! {
    /// The table of arrays, for all threads.
    SharedArrays(*const Array);
    /// The first task, for all threads.
    SharedTasks(*const Task);
    /// The partial totals of the first task, for all threads.
    SharedTotals(*mut u8);
}

/// The positions `from..to` of an index space.
pub fn range(from: usize, to: usize, extents: *const i64) -> Task {
    Task { from: from as i64, to: to as i64, row: 0, slot: 0, len: 0, extents, state: std::ptr::null() }
}
