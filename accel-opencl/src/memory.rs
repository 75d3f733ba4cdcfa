//! The buffers of a device, which are reused.
//!
//! NOTE [Buffer reuse on an in-order queue]: all commands of a device go through one in-order queue. A run returns a
//! buffer when the last command that uses it was enqueued. The next user enqueues its commands later, so they are
//! executed later. So nobody waits, and arrays of different runs, in different threads, can use the same memory one
//! after the other.

use crate::cl::{self, Context};
use accel_codegen::opencl::size_of;
use accel_core::error::Error;
use accel_core::repr::ScalarType;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The memory of one device.
pub struct Memory {
    context: Context,
    /// The largest size of a buffer, and the total size of all buffers, in bytes.
    pub largest: usize,
    total: usize,
    state: Mutex<State>,
}

/// The unused buffers.
#[derive(Default)]
struct State {
    unused: BTreeMap<usize, Vec<cl::Buffer>>,
    /// The sizes of the unused buffers and of those in use, in bytes.
    kept: usize,
    used: usize,
}

/// Memory for a column of an array.
pub struct Buffer {
    /// Present until it is dropped.
    mem: Option<cl::Buffer>,
    bytes: usize,
    home: Arc<Memory>,
}

/// The reason why there is no buffer.
#[derive(Debug)]
pub enum Failure {
    /// It would be larger than the device supports.
    TooLarge,
    /// There is not enough memory.
    Full,
    /// Another error of the driver.
    Driver(Error),
}

impl Failure {
    fn of(code: i32) -> Failure {
        if cl::is_memory(code) { Failure::Full } else { Failure::Driver(cl::error("clCreateBuffer", code)) }
    }
}

impl Memory {
    pub fn new(context: Context, largest: usize, total: usize) -> Arc<Memory> {
        Arc::new(Memory { context, largest, total, state: Mutex::default() })
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer for `n` elements, at least one.
    pub fn column(self: &Arc<Self>, t: ScalarType, n: usize) -> Result<Arc<Buffer>, Failure> {
        let bytes = size_of(t, 1).checked_mul(n).ok_or(Failure::TooLarge)?;
        self.plain(bytes)
    }

    /// A buffer of this size.
    pub fn plain(self: &Arc<Self>, bytes: usize) -> Result<Arc<Buffer>, Failure> {
        let bytes = size_class(bytes.max(1)).unwrap_or(bytes).min(self.largest.max(bytes));
        let buffer = |mem| Arc::new(Buffer { mem: Some(mem), bytes, home: self.clone() });
        let mut state = self.state();
        if let Some(mem) = state.unused.get_mut(&bytes).and_then(Vec::pop) {
            state.kept -= bytes;
            state.used += bytes;
            return Ok(buffer(mem));
        }
        self.make_room(&mut state, bytes)?;
        let mem = match self.context.buffer(bytes) {
            Ok(mem) => mem,
            Err(_) => {
                state.clear();
                self.context.buffer(bytes).map_err(Failure::of)?
            }
        };
        state.used += bytes;
        Ok(buffer(mem))
    }

    /// Drops unused buffers, if `bytes` more would exceed the memory.
    fn make_room(&self, state: &mut State, bytes: usize) -> Result<(), Failure> {
        if bytes > self.largest {
            return Err(Failure::TooLarge);
        }
        if state.used.saturating_add(state.kept).saturating_add(bytes) > self.total {
            state.clear();
        }
        if state.used.saturating_add(bytes) > self.total { Err(Failure::Full) } else { Ok(()) }
    }

    /// The sizes of the buffers in use, and of those that are kept for reuse, in bytes.
    pub fn bytes(&self) -> (usize, usize) {
        let state = self.state();
        (state.used, state.kept)
    }

    /// Whether a buffer is kept: at most a quarter of the memory is kept for reuse.
    fn keeps(&self, state: &State, bytes: usize) -> bool {
        state.kept + bytes <= self.total / 4
    }
}

impl State {
    fn clear(&mut self) {
        self.unused.clear();
        self.kept = 0;
    }
}

/// Rounds a size up, by at most an eighth, so that buffers fit more often.
fn size_class(bytes: usize) -> Option<usize> {
    let step = (bytes.checked_next_power_of_two()? / 16).max(64);
    bytes.checked_next_multiple_of(step)
}

impl Buffer {
    /// The memory, for commands.
    pub fn mem(&self) -> Option<&cl::Buffer> {
        self.mem.as_ref()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some(mem) = self.mem.take() else { return };
        let mut state = self.home.state();
        state.used -= self.bytes;
        if self.home.keeps(&state, self.bytes) {
            state.unused.entry(self.bytes).or_default().push(mem);
            state.kept += self.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::default_device;

    /// The memory of the default device, if there is one.
    fn memory(total: usize) -> Option<Arc<Memory>> {
        let device = default_device().inspect_err(|e| println!("LEFT OUT: {e}")).ok()?;
        let context = Context::new(device.id.0).unwrap();
        Some(Memory::new(context, total / 2, total))
    }

    fn failure<T>(r: Result<T, Failure>) -> Failure {
        r.err().expect("there is no such memory")
    }

    #[test]
    fn buffers_are_used_again_up_to_a_limit() {
        let Some(memory) = memory(1 << 20) else { return };
        let first = memory.plain(1000).unwrap();
        assert_eq!(memory.bytes(), (1024, 0));
        drop(first);
        assert_eq!(memory.bytes(), (0, 1024));
        let again = memory.column(ScalarType::F32, 256).unwrap();
        assert_eq!(memory.bytes(), (1024, 0));
        // A quarter is kept.
        let many: Vec<_> = (0..6).map(|_| memory.plain(100_000).unwrap()).collect();
        drop(many);
        let (used, kept) = memory.bytes();
        assert!(used == 1024 && kept > 200_000 && kept <= 1 << 18, "{kept}");
        drop(again);
        memory.state().clear();
        assert_eq!(memory.bytes(), (0, 0));
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let Some(memory) = memory(1 << 20) else { return };
        assert!(matches!(failure(memory.plain((1 << 19) + 1)), Failure::TooLarge));
        assert!(matches!(failure(memory.plain(usize::MAX)), Failure::TooLarge));
        assert!(matches!(failure(memory.column(ScalarType::F64, usize::MAX / 2)), Failure::TooLarge));
        let all = [1 << 19, 1 << 18].map(|n| memory.plain(n).unwrap());
        assert!(matches!(failure(memory.plain(1 << 19)), Failure::Full));
        drop(all);
        // What is kept makes room.
        assert!(memory.plain(1 << 19).is_ok());
    }
}
