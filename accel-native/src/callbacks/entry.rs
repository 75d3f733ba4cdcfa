//! The entry from generated code into callbacks, and the failures that they return.

use crate::abi::{Function, Run, Task};
use crate::context::Context;
use accel_codegen::fault::MEMORY;
use accel_core::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A failure. The record, or `failure`, describes it.
pub struct Failed;

pub type Outcome = Result<(), Failed>;

/// Calls `f` with the context of a run. A panic must not pass through generated code, so it becomes a failure.
///
/// # Safety
/// `run` is the argument with which generated code was called, and nothing else uses the context meanwhile.
pub unsafe fn enter<T>(run: *mut Run, failed: T, f: impl FnOnce(&mut Context) -> Result<T, Failed>) -> T {
    // SAFETY: a run is the first field of its context, and generated code was called with the address of the context.
    let context = unsafe { &mut *run.cast::<Context>() };
    match catch_unwind(AssertUnwindSafe(|| f(context))) {
        Ok(Ok(x)) => x,
        Ok(Err(Failed)) => failed,
        Err(_) => {
            context.failure = Some(Error::Internal("a panic while a compiled program ran".into()));
            failed
        }
    }
}

impl Context<'_> {
    /// Calls a kernel for one task.
    ///
    /// # Safety
    /// The kernel belongs to the statement that is being executed, and the task is one that it expects.
    pub unsafe fn one(&mut self, f: Function, task: &Task) -> Outcome {
        // SAFETY: the caller's guarantee. The record is large enough.
        if unsafe { f(self.run.arrays, task, self.run.fault) } == 0 { Ok(()) } else { Err(Failed) }
    }

    /// Records that there is no memory for `n` elements.
    pub fn no_memory(&mut self, n: usize) -> Failed {
        let fault = [MEMORY, self.run.site, 1, n as i64];
        // SAFETY: the record has room for at least these numbers.
        unsafe { self.run.fault.copy_from_nonoverlapping(fault.as_ptr(), fault.len()) };
        Failed
    }
}
