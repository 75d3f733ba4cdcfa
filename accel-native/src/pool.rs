//! Working memory that is kept between uses: new memory costs a page fault every few kilobytes.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// A cache line.
#[repr(C, align(64))]
pub struct Line([u64; 8]);

/// Memory that only generated code writes and reads.
pub type Memory = Vec<Line>;

/// A pool of as many blocks as were in use at the same time.
#[derive(Default)]
pub struct Pool(Mutex<Vec<Memory>>);

impl Pool {
    /// A block with at least `bytes` bytes, aligned to 64; `None` if there is not enough memory.
    pub fn take(&self, bytes: usize) -> Option<Memory> {
        // A panic cannot leave the list in an inconsistent state.
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        memory.try_reserve_exact(bytes.div_ceil(64)).ok()?;
        Some(memory)
    }

    /// Returns a block to the pool.
    pub fn give(&self, memory: Memory) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

/// The address of the first byte.
pub fn address(memory: &mut Memory) -> *mut c_void {
    memory.as_mut_ptr().cast()
}
