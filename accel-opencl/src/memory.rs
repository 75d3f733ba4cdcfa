//! The buffers of a device, which are reused.
//!
//! NOTE [Buffer reuse on an in-order queue]: all commands of a device go through one in-order queue. A run returns a
//! buffer when the last command that uses it was enqueued. The next user enqueues its commands later, so they are
//! executed later. So nobody waits, and arrays of different runs, in different threads, can use the same memory one
//! after the other.
//!
//! NOTE [Host memory]: on a device that works in the memory of the host, large buffers are columns: an argument is used
//! without a copy, and a result becomes a column without a copy. The user decides what happens to the column of a
//! result. Its memory is reused once nobody else has it, because the first write to each page of new memory costs far
//! more than the write itself.
//!
//! NOTE [Shared virtual memory]: smaller buffers are in memory that host and device share, if the device supports this.
//! The host reads results there, without commands that copy them. Kernels get addresses, which cost drivers less work
//! than buffers. The value and gradient of a small mixture, one kernel with 44 arrays and 8 results, takes pocl 10 µs
//! less.

use crate::cl::{self, Context, Mem, Queue};
use accel_codegen::opencl::size_of;
use accel_core::error::Error;
use accel_core::repr::{Column, ScalarType};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// From this size on (in bytes), a buffer of a device with the host's memory is a column.
pub const LARGE: usize = 1 << 18;
/// The largest number of columns of results that are remembered.
const MAX_LENT: usize = 16;

/// The memory of one device.
pub struct Memory {
    context: Context,
    /// Whether the device works in the memory of the host.
    is_host: bool,
    /// The queue of the commands, if host and device share memory.
    sees: Option<Arc<Queue>>,
    /// The largest size of a buffer, and the total size of all buffers, in bytes.
    pub largest: usize,
    total: usize,
    state: Mutex<State>,
}

/// The unused buffers.
#[derive(Default)]
struct State {
    plain: BTreeMap<usize, Vec<Mem>>,
    columns: HashMap<(ScalarType, usize), Vec<(cl::Buffer, Column)>>,
    /// The columns of results, which others may still have, oldest first.
    lent: Vec<Column>,
    /// The sizes of the unused buffers and of those in use, in bytes.
    kept: usize,
    used: usize,
}

/// Memory for a column of an array.
pub struct Buffer {
    /// Present until it is dropped.
    mem: Option<Mem>,
    bytes: usize,
    place: Place,
    home: Arc<Memory>,
}

enum Place {
    /// Memory of the device.
    Plain,
    /// Memory of a column that nobody else has.
    Column(Column),
    /// Memory of a column that others also have.
    Shared,
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
    pub fn new(context: Context, is_host: bool, sees: Option<Arc<Queue>>, largest: usize, total: usize) -> Arc<Memory> {
        Arc::new(Memory { context, is_host, sees, largest, total, state: Mutex::default() })
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether the device works in the memory of the host.
    pub fn is_host(&self) -> bool {
        self.is_host
    }

    /// Whether host and device share memory.
    pub fn is_seen(&self) -> bool {
        self.sees.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer for `n` elements, at least one.
    pub fn column(self: &Arc<Self>, t: ScalarType, n: usize) -> Result<Arc<Buffer>, Failure> {
        let bytes = size_of(t, 1).checked_mul(n).ok_or(Failure::TooLarge)?;
        if !self.is_host || bytes < LARGE {
            return self.plain(bytes);
        }
        let make = |mem, column| self.buffer(Mem::Buffer(mem), bytes, Place::Column(column));
        let mut state = self.state();
        if let Some((mem, column)) = state.columns.get_mut(&(t, n)).and_then(Vec::pop) {
            state.kept -= bytes;
            state.used += bytes;
            return Ok(make(mem, column));
        }
        let fits = |c: &mut Column| c.ty() == t && c.len() == n && c.as_mut_ptr().is_some();
        let again = state.lent.iter_mut().position(fits).map(|k| state.lent.remove(k));
        self.make_room(&mut state, bytes)?;
        drop(state);
        let mut column = match again {
            Some(column) => column,
            None => match Column::zeros(t, n) {
                Some(column) => column,
                None => {
                    self.drop_unused();
                    Column::zeros(t, n).ok_or(Failure::Full)?
                }
            },
        };
        let data = column.as_mut_ptr().ok_or(Failure::Full)?;
        // SAFETY: the elements exist until the column is dropped. This happens after the buffer is destroyed (see
        // `State::clear` and `take`), and nobody else has them.
        let mem = unsafe { self.context.host_buffer(data.cast(), bytes, false) }.map_err(Failure::of)?;
        self.state().used += bytes;
        Ok(make(mem, column))
    }

    /// A buffer of this size in device memory.
    pub fn plain(self: &Arc<Self>, bytes: usize) -> Result<Arc<Buffer>, Failure> {
        let bytes = size_class(bytes.max(1)).unwrap_or(bytes).min(self.largest.max(bytes));
        let mut state = self.state();
        if let Some(mem) = state.plain.get_mut(&bytes).and_then(Vec::pop) {
            state.kept -= bytes;
            state.used += bytes;
            return Ok(self.buffer(mem, bytes, Place::Plain));
        }
        self.make_room(&mut state, bytes)?;
        let mem = match self.fresh(bytes) {
            Ok(mem) => mem,
            Err(_) => {
                state.clear();
                self.fresh(bytes).map_err(Failure::of)?
            }
        };
        state.used += bytes;
        Ok(self.buffer(mem, bytes, Place::Plain))
    }

    fn fresh(&self, bytes: usize) -> Result<Mem, i32> {
        match &self.sees {
            Some(queue) => self.context.shared_memory(queue, bytes).map(Mem::Seen),
            None => self.context.buffer(bytes),
        }
    }

    fn buffer(self: &Arc<Self>, mem: Mem, bytes: usize, place: Place) -> Arc<Buffer> {
        Arc::new(Buffer { mem: Some(mem), bytes, place, home: self.clone() })
    }

    /// A buffer on the elements of a column, without a copy; `None` if the device cannot access them.
    pub fn share(self: &Arc<Self>, column: &Column) -> Result<Option<Arc<Buffer>>, Failure> {
        if !self.is_host {
            return Ok(None);
        }
        let bytes = column.bytes();
        if bytes > self.largest {
            return Err(Failure::TooLarge);
        }
        // SAFETY: the elements exist as long as the column, which is dropped when the buffer is destroyed, and nobody
        // writes them.
        let mem = unsafe { self.context.host_buffer(column.as_ptr().cast_mut().cast(), bytes, true) };
        let mem = mem.map_err(Failure::of)?;
        mem.keep(column.clone());
        Ok(Some(self.buffer(Mem::Buffer(mem), bytes, Place::Shared)))
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

    /// Drops all unused buffers.
    pub fn drop_unused(&self) {
        self.state().clear();
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
        self.plain.clear();
        self.columns.drain().flat_map(|(_, list)| list).for_each(|(mem, column)| mem.keep(column));
        self.lent.clear();
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
    pub fn mem(&self) -> Option<&Mem> {
        self.mem.as_ref()
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether its only owner may write to it.
    pub fn is_own(&self) -> bool {
        !matches!(self.place, Place::Shared)
    }

    /// Whether the elements are in a column that nobody else has.
    pub fn is_column(&self) -> bool {
        matches!(self.place, Place::Column(_))
    }

    /// The column with the elements, if there is one. All commands with the buffer must have ended.
    pub fn into_column(mut self) -> Option<Column> {
        let Place::Column(column) = std::mem::replace(&mut self.place, Place::Shared) else { return None };
        let mut state = self.home.state();
        state.used -= self.bytes;
        state.lent.push(column.clone());
        while state.lent.len() > MAX_LENT || state.lent.iter().map(Column::bytes).sum::<usize>() > self.home.total / 8 {
            state.lent.remove(0);
        }
        drop(state);
        Some(column)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let Some(mem) = self.mem.take() else { return };
        let mut state = self.home.state();
        let keep = self.home.keeps(&state, self.bytes);
        match std::mem::replace(&mut self.place, Place::Shared) {
            Place::Shared => return,
            Place::Plain if keep => state.plain.entry(self.bytes).or_default().push(mem),
            Place::Plain => {}
            Place::Column(column) => match mem {
                Mem::Buffer(buffer) if keep => {
                    state.columns.entry((column.ty(), column.len())).or_default().push((buffer, column));
                }
                Mem::Buffer(buffer) => buffer.keep(column),
                // Only host buffers have a column.
                Mem::Seen(_) => {}
            },
        }
        state.used -= self.bytes;
        if keep {
            state.kept += self.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{default_device, devices::DeviceType};

    /// The memory of the default device, if there is one.
    fn memory(total: usize) -> Option<Arc<Memory>> {
        let device = default_device().inspect_err(|e| println!("LEFT OUT: {e}")).ok()?;
        let context = Context::new(device.id.0).unwrap();
        let queue = device.shares.then(|| Arc::new(context.queue(device.id.0).unwrap()));
        Some(Memory::new(context, device.kind == DeviceType::Cpu, queue, total / 2, total))
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
        memory.drop_unused();
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

    #[test]
    fn columns_of_results_are_used_again_when_nobody_has_them() {
        let Some(memory) = memory(1 << 26).filter(|m| m.is_host) else { return };
        let n = LARGE;
        let result = || Arc::into_inner(memory.column(ScalarType::I8, n).unwrap()).unwrap().into_column().unwrap();
        let first = result();
        let second = result();
        assert_ne!(first.as_ptr(), second.as_ptr());
        let place = first.as_ptr();
        drop(first);
        assert_eq!(result().as_ptr(), place);
        assert_eq!(second.len(), n);
        assert_eq!(memory.bytes(), (0, 0));
    }
}
