//! The tape: the memory for the private lists of a statement, see NOTE [Memory of lists] in `accel-codegen`.
//!
//! NOTE [Full lists]: the host gives each work-item room for a number of elements of each list, and waits for the
//! statement. If a list was full, the host executes the statement again with more room. So such a statement must not
//! write over what it reads, and sums start again from their initial values. A program remembers the room of each
//! statement, so that the next run has enough from the start. The size of a tape is limited: if lists are long, fewer
//! items run at once, and each of them computes more elements.

use crate::device_module::DeviceModule;
use crate::location::mem;
use crate::memory::{Buffer, Failure};
use accel_codegen::opencl::{Arg, Launch};
use accel_core::error::Result;
use std::sync::Arc;

/// The room for a list, in elements, of a statement that was never executed.
pub const ROOM: usize = 64;

/// The factor by which the room grows.
pub const GROWTH: usize = 4;

/// The limit for the size of a tape, in bytes, unless a single group of items needs more.
const LARGEST: usize = 256 << 20;

/// The memory before the lists, in bytes: whether a list was full, and the room of a list.
const HEAD: usize = 16;

/// Whether items of a launch have lists.
pub fn has_lists(launch: &Launch) -> bool {
    launch.kernel.args.contains(&Arg::Tape)
}

/// The largest number of items with this number of lists, each with this room.
pub fn most_items(module: &DeviceModule, lists: usize, room: usize) -> usize {
    let bytes = LARGEST.min(module.device.about.largest_buffer as usize);
    bytes / lists.saturating_mul(room).saturating_mul(8).max(1)
}

/// The size of the tape for these launches, in bytes.
pub fn size(launches: &[Launch], lists: usize, room: usize) -> usize {
    let items = |l: &Launch| l.global[0].saturating_mul(l.global[1]);
    let most = launches.iter().filter(|l| has_lists(l)).map(items).max().unwrap_or(0);
    [lists, room, 8].into_iter().fold(most, usize::saturating_mul).saturating_add(HEAD)
}

/// Makes a tape of this size.
///
/// # Errors
/// There is not enough memory, or an error of the driver.
pub fn new(module: &DeviceModule, bytes: usize, room: usize) -> std::result::Result<Arc<Buffer>, Failure> {
    let tape = module.device.memory.plain(bytes)?;
    let head = [[0; 8], (room as i64).to_ne_bytes()].concat();
    let fill = || module.device.queue.fill(mem(&tape)?, &head, HEAD);
    fill().map_err(Failure::Driver)?;
    Ok(tape)
}

/// Waits until all enqueued commands have ended. Returns whether a list was full.
///
/// # Errors
/// An error of the driver.
pub fn was_full(module: &DeviceModule, tape: &Buffer) -> Result<bool> {
    let mut full = 0i64;
    // SAFETY: there are 8 bytes, which exist until the host has waited for the event, and nobody uses them.
    let done = unsafe { module.device.queue.read(mem(tape)?, 0, (&raw mut full).cast(), size_of::<i64>())? };
    module.device.wait(&done)?;
    Ok(full != 0)
}
