//! Strips: each task has its own working memory and partial totals.

use super::entry::{Failed, Outcome, enter};
use crate::abi::{Function, Run, Task};
use crate::context::Context;
use crate::parallel_tasks::{SharedArrays, SharedTotals, range, with_record};
use crate::pool::address;
use crate::threads;
use accel_codegen::partition::strip_size;

pub unsafe extern "C" fn strip(run: *mut Run, functions: *const Function, n: i64, sizes: *const i64) -> i32 {
    // SAFETY: called by generated code for a statement that it executes, with two functions and four sizes.
    unsafe {
        let functions = *functions.cast::<[Function; 2]>();
        let sizes = *sizes.cast::<[i64; 4]>();
        enter(run, 1, |c| c.strips(functions, n as usize, sizes.map(|x| x as usize)).map(|()| 0))
    }
}

impl Context<'_> {
    /// Executes the strips of `n` positions. The sizes are the bytes of a task's working memory, the bytes of its
    /// partial totals, the cost of a position, and the number of positions that are executed together. The tasks depend
    /// only on sizes.
    ///
    /// # Safety
    /// The functions belong to the statement that is being executed.
    unsafe fn strips(
        &mut self,
        [body, join]: [Function; 2],
        n: usize,
        [scratch, partial, cost, lanes]: [usize; 4],
    ) -> Outcome {
        let each = strip_size(n, partial, cost, lanes);
        let count = n.div_ceil(each);
        let bytes = partial.saturating_mul(count);
        let mut totals = self.code.totals.take(bytes).ok_or_else(|| self.no_memory(bytes))?;
        let start = address(&mut totals).cast::<u8>();
        let (arrays, first) = (SharedArrays(self.run.arrays), SharedTotals(start));
        let pool = self.code.pool.clone();
        let length = self.code.record_length;
        let one = move |k: usize| -> Result<(), Option<Vec<i64>>> {
            let mut working = pool.take(scratch).ok_or(None)?;
            // SAFETY: there is room for `count` times `partial` bytes.
            let state = [address(&mut working), unsafe { first.get().add(k * partial) }.cast()];
            let task = Task { state: state.as_ptr(), ..range(k * each, n.min((k + 1) * each), std::ptr::null()) };
            // SAFETY: the caller's guarantee. The tasks write different positions of the outputs, and have different
            // working memory, partial totals and records.
            let outcome = with_record(length, |record| unsafe { body(arrays.get(), &task, record) });
            pool.give(working);
            outcome.map_err(Some)
        };
        match threads::each(count, one) {
            Ok(()) => {}
            Err(None) => return Err(self.no_memory(scratch)),
            Err(Some(fault)) => {
                // SAFETY: the run's record has this length.
                unsafe { self.run.fault.copy_from_nonoverlapping(fault.as_ptr(), length) };
                return Err(Failed);
            }
        }
        if partial > 0 {
            let state = [start.cast()];
            let task = Task { state: state.as_ptr(), len: partial as i64, ..range(0, count, std::ptr::null()) };
            // SAFETY: the tasks have written their partial totals.
            unsafe { self.one(join, &task)? };
        }
        self.code.totals.give(totals);
        Ok(())
    }
}
