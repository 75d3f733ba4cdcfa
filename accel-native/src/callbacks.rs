//! The callbacks of generated code: memory, and parallel work.
//!
//! Work is cut into tasks for the threads of rayon's pool. The tasks depend only on sizes, never on the number of
//! threads, so the results do not depend on it either. A long row is reduced in parts, whose partial results are
//! combined from left to right. Many rows are reduced one after another.

mod entry;
mod foreign;
mod rows;
mod small_states;
mod sort;
mod states;
mod strip;
mod tape;

use crate::abi::{Block, Callbacks, Run};
use entry::enter;
pub use states::{RunningTape, SmallMemory, TapeArrays, tape_arrays};

/// The callbacks.
pub static CALLS: Callbacks = Callbacks {
    allocate,
    release,
    ranges: rows::ranges,
    reduce: rows::reduce,
    scan: rows::scan,
    strip: strip::strip,
    argsort: sort::argsort,
    foreign: foreign::foreign,
    keep: tape::keep,
    recall: tape::recall,
    again: tape::again,
};

unsafe extern "C" fn allocate(run: *mut Run, n: i64, size: i64) -> *mut Block {
    // SAFETY: called by generated code.
    unsafe { enter(run, std::ptr::null_mut(), |c| Ok(c.memory.allocate(n as usize, size as usize))) }
}

unsafe extern "C" fn release(run: *mut Run, block: *mut Block) {
    // SAFETY: called by generated code for a block that no array uses any more.
    unsafe {
        enter(run, (), |c| {
            c.memory.release(block);
            Ok(())
        })
    }
}
