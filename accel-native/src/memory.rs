//! The memory of a run: blocks that are reused, and columns of arguments and literals that are borrowed.

use crate::abi::Block;
use accel_core::repr::{Column, ScalarType};
use accel_pages::{LARGE, advise};
use std::alloc::Layout;
use std::ffi::c_void;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// This number of bytes may be kept for reuse even if the run needs more memory because of it.
pub const KEPT_BYTES: usize = 1 << 20;
/// The number of bytes that a compiled program may keep while it does not run, besides those of its results.
const IDLE_BYTES: usize = 1 << 28;
/// The number of bytes that all compiled programs may keep together, with their results.
const ALL_IDLE_BYTES: usize = 1 << 30;
/// The largest number of blocks that are kept, since they are searched one after the other.
const KEPT_BLOCKS: usize = 128;

/// All blocks of one run. They are kept for the next run.
#[derive(Default)]
pub struct Memory {
    /// All blocks. Each was made by `Box::into_raw`.
    blocks: Vec<*mut Block>,
    /// Unused blocks with memory.
    free: Vec<*mut Block>,
    /// Unused blocks without memory.
    empty: Vec<*mut Block>,
    /// Columns that are borrowed, or that have become results.
    columns: Vec<Known>,
    /// The bytes of the run that are in use, the bytes that are kept, and the largest number that was in use.
    used: usize,
    kept: usize,
    most_used: usize,
    /// The largest number of bytes that the run had at any time.
    pub peak: usize,
    /// Large columns that were made for results.
    made: Vec<Column>,
    /// The part of [`ALL_IDLE_BYTES`] that is used.
    idle: Idle,
}
// SAFETY: the blocks belong to it, and only its run has their addresses. Nothing is borrowed between runs.
unsafe impl Send for Memory {}

/// A column that is memory of a block.
enum Known {
    /// A column of an argument or literal, which exists during the run. It is not cloned: threads that run programs on
    /// the same arrays would have to count references in the same place.
    Borrowed(*const Column),
    /// Memory of the caller.
    Slice,
    Result(Column),
}

// NOTE [Reuse of result memory]: the first write to each page of new memory costs far more than the write itself, and
// the allocator returns large blocks to the system at once. So a compiled program remembers the large columns of its
// last results. When it runs again, it reuses the memory of those that nobody else has any more, and forgets the
// others. It also keeps the memory of intermediate arrays, up to a limit. A process may have many compiled programs that
// do not run any more, so there is also a limit for all of them. A program may keep what it has, however large it is, as
// long as the others together are below the limit: a program with the largest arrays gains most.

/// The bytes that programs keep while they do not run. Programs with less than [`KEPT_BYTES`] do not count: their threads
/// would all change this number in each run.
static ALL_IDLE: AtomicUsize = AtomicUsize::new(0);

/// A part of the bytes that all programs may keep together; `None` if it is too small to count.
type Idle = Option<Counted>;

/// Bytes that are counted as long as this exists.
struct Counted(usize, &'static AtomicUsize);

impl Counted {
    /// Counts bytes that a program would keep; `None` if the other programs keep too much.
    fn new(bytes: usize, all: &'static AtomicUsize) -> Option<Counted> {
        let more = |all: usize| (all <= ALL_IDLE_BYTES).then(|| all.saturating_add(bytes));
        all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Counted(bytes, all))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl Memory {
    /// Prepares for a run, which may need as much memory as the last one.
    pub fn begin(&mut self) {
        (self.most_used, self.peak) = (self.peak, 0);
        self.idle = None;
        for (data, bytes, size) in std::mem::take(&mut self.made).into_iter().filter_map(own_memory) {
            let block = self.block(Block { data, count: 0, size, bytes, column: None });
            self.kept += bytes;
            self.free.push(block);
        }
    }

    /// Releases all memory except that of results and some of the unused blocks: NOTE [Reuse of result memory].
    pub fn end(&mut self) {
        let mut idle = 0;
        self.free.retain(|b| {
            // SAFETY: blocks exist as long as the memory.
            let bytes = unsafe { (**b).bytes };
            let fits = idle + bytes <= IDLE_BYTES;
            idle += if fits { bytes } else { 0 };
            fits
        });
        let results: usize = self.made.iter().map(Column::bytes).sum();
        if idle + results > KEPT_BYTES {
            self.idle = Counted::new(idle + results, &ALL_IDLE);
            if self.idle.is_none() {
                self.free.clear();
                self.made.clear();
                idle = 0;
            }
        }
        self.kept = idle;
        self.empty.clear();
        self.empty.extend(self.blocks.iter().copied().filter(|b| !self.free.contains(b)));
        for b in &self.empty {
            // SAFETY: blocks exist as long as the memory, and no generated code runs that could use them.
            unsafe { free(&mut **b) };
        }
        self.columns.clear();
        self.used = 0;
    }

    /// A block with room for `n` elements of `size` bytes each; null if there is not enough memory.
    pub fn allocate(&mut self, n: usize, size: usize) -> *mut Block {
        let Some(bytes) = n.checked_mul(size).filter(|b| isize::try_from(*b).is_ok()) else { return null_mut() };
        // SAFETY: blocks of the list exist, and only this memory uses them.
        let fits = |b: &*mut Block| unsafe { (**b).bytes == bytes && (**b).size == size };
        let block = match self.free.iter().rposition(fits) {
            Some(at) => {
                self.kept -= bytes;
                self.free.remove(at)
            }
            None => {
                while self.kept > KEPT_BYTES && self.used + self.kept + bytes > self.most_used {
                    self.give_back_oldest();
                }
                match self.new_block(bytes, size) {
                    Some(b) => b,
                    None if self.free.is_empty() => return null_mut(),
                    // The kept blocks may hold the memory that is missing.
                    None => {
                        (0..self.free.len()).for_each(|_| self.give_back_oldest());
                        return self.allocate(n, size);
                    }
                }
            }
        };
        // SAFETY: as above.
        unsafe { (*block).count = 1 };
        self.used += bytes;
        self.most_used = self.most_used.max(self.used);
        self.peak = self.peak.max(self.used + self.kept);
        block
    }

    fn new_block(&mut self, bytes: usize, size: usize) -> Option<*mut Block> {
        let data = new_memory(bytes, size)?;
        Some(self.block(Block { data, count: 1, size, bytes, column: None }))
    }

    fn block(&mut self, block: Block) -> *mut Block {
        if let Some(b) = self.empty.pop() {
            // SAFETY: it was made by `Box::into_raw`, and nobody else has it.
            unsafe { *b = block };
            return b;
        }
        let b = Box::into_raw(Box::new(block));
        self.blocks.push(b);
        b
    }

    /// Takes back a block that nobody uses any more.
    ///
    /// # Safety
    /// The block belongs to this memory, and its memory is not read or written from now on.
    pub unsafe fn release(&mut self, block: *mut Block) {
        // SAFETY: blocks exist as long as the memory.
        let bytes = unsafe { (*block).bytes };
        self.used -= bytes;
        self.kept += bytes;
        self.free.push(block);
        if self.free.len() > KEPT_BLOCKS {
            self.give_back_oldest();
        }
    }

    fn give_back_oldest(&mut self) {
        let block = self.free.remove(0);
        // SAFETY: the block exists and nobody uses its memory.
        unsafe {
            self.kept -= (*block).bytes;
            free(&mut *block);
        }
        self.empty.push(block);
    }

    /// A block for memory that others also have, until the end of the run. It is never written to, since the run has a reference to it,
    /// too. If it is not that of a column, it becomes none either.
    pub fn borrow(&mut self, data: *const u8, t: ScalarType, column: Option<&Column>) -> *mut Block {
        let (data, size) = (data.cast_mut().cast(), element_size(t));
        let block = Block { data, count: 2, size, bytes: 0, column: Some(self.columns.len()) };
        self.columns.push(column.map_or(Known::Slice, |c| Known::Borrowed(c)));
        self.block(block)
    }

    /// Keeps the memory of a result for the next run.
    ///
    /// # Safety
    /// The block belongs to this memory, and its memory is not read or written in this run any more.
    pub unsafe fn keep(&mut self, block: *mut Block) {
        // SAFETY: blocks exist as long as the memory.
        if unsafe { (*block).column.is_none() } && !self.free.contains(&block) {
            // SAFETY: the caller's guarantee.
            unsafe { self.release(block) };
        }
    }

    /// Turns a block into a column, without a copy, after the run. If the same memory may belong to another result,
    /// `shared` must be true.
    ///
    /// # Safety
    /// The block belongs to this memory, and has `n` elements of type `t`, all of which have been written (for `bool`:
    /// with 0 or 1). Columns that the run has borrowed still exist.
    pub unsafe fn column(&mut self, block: *mut Block, t: ScalarType, n: usize, shared: bool) -> Column {
        // SAFETY: blocks exist as long as the memory.
        let block = unsafe { &mut *block };
        match block.column.map(|at| &self.columns[at]) {
            // SAFETY: the caller's guarantee.
            Some(Known::Borrowed(column)) => return unsafe { (**column).clone() },
            Some(Known::Result(column)) => return column.clone(),
            // SAFETY: the caller's guarantee.
            Some(Known::Slice) => return unsafe { copy_of(block.data, t, n) },
            None => {}
        }
        let bytes = std::mem::take(&mut block.bytes);
        // SAFETY: the memory was allocated for `bytes` bytes with the alignment of the type, and is no longer used as a
        // block.
        let column = unsafe { column_of(block.data, t, n, bytes / block.size) };
        if shared {
            block.column = Some(self.columns.len());
            self.columns.push(Known::Result(column.clone()));
        }
        if bytes >= LARGE {
            self.made.push(column.clone());
        }
        column
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for b in &self.blocks {
            // SAFETY: it was made by `Box::into_raw` and is dropped once; no generated code runs that could use it.
            unsafe { free(&mut Box::from_raw(*b)) };
        }
    }
}

/// Allocates this number of bytes; `None` if there is not enough memory.
fn new_memory(bytes: usize, align: usize) -> Option<*mut c_void> {
    let layout = Layout::from_size_align(bytes, align).ok()?;
    if bytes == 0 {
        return Some(std::ptr::without_provenance_mut(align));
    }
    // SAFETY: the size is not 0.
    let data = NonNull::new(unsafe { std::alloc::alloc(layout) })?.as_ptr();
    // SAFETY: there are that many bytes, and nobody else has them.
    advise(unsafe { std::slice::from_raw_parts_mut(data.cast::<MaybeUninit<u8>>(), bytes) });
    Some(data.cast())
}

/// Frees the memory of a block, if the block owns it.
///
/// # Safety
/// Nobody uses the memory.
unsafe fn free(block: &mut Block) {
    if block.column.is_none() && block.bytes > 0 {
        // SAFETY: it was allocated by `new_memory` with this layout.
        unsafe { std::alloc::dealloc(block.data.cast(), Layout::from_size_align_unchecked(block.bytes, block.size)) };
    }
    block.bytes = 0;
}

macro_rules! columns {
    ($($variant:ident $rust:ty),* $(,)?) => {
        /// The size of an element, which is also its alignment.
        pub fn element_size(t: ScalarType) -> usize {
            match t { $(ScalarType::$variant => {
                const { assert!(size_of::<$rust>() == align_of::<$rust>()) };
                size_of::<$rust>()
            })* }
        }

        /// # Safety
        /// The memory was allocated for `capacity` elements of type `t`, and has `n` elements.
        unsafe fn column_of(data: *mut c_void, t: ScalarType, n: usize, capacity: usize) -> Column {
            match t { $(ScalarType::$variant => {
                // SAFETY: the caller guarantees what a vector needs.
                let v: Vec<$rust> = unsafe { Vec::from_raw_parts(data.cast(), n, capacity) };
                v.into()
            })* }
        }

        /// A copy of elements.
        ///
        /// # Safety
        /// There are `n` elements of type `t` at this address.
        unsafe fn copy_of(data: *const c_void, t: ScalarType, n: usize) -> Column {
            match t { $(ScalarType::$variant => {
                // SAFETY: the caller's guarantee.
                unsafe { std::slice::from_raw_parts(data.cast::<$rust>(), n) }.to_vec().into()
            })* }
        }

        /// The memory of a column that nobody else has: address, bytes, and the size of an element.
        fn own_memory(c: Column) -> Option<(*mut c_void, usize, usize)> {
            match c { $(Column::$variant(c) => {
                let mut v = ManuallyDrop::new(Arc::try_unwrap(c).ok()?);
                Some((v.as_mut_ptr().cast(), v.capacity() * size_of::<$rust>(), size_of::<$rust>()))
            })* }
        }

        /// A column of one element.
        ///
        /// # Safety
        /// There is an element of type `t` at this address.
        pub unsafe fn cell(data: *const c_void, t: ScalarType) -> Column {
            match t { $(ScalarType::$variant => {
                // SAFETY: the caller's guarantee.
                vec![unsafe { *data.cast::<$rust>() }].into()
            })* }
        }
    };
}
columns!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_programs_together_keep_a_limited_number_of_bytes() {
        static ALL: AtomicUsize = AtomicUsize::new(0);
        let small = Counted::new(1000, &ALL);
        let largest = Counted::new(2 * ALL_IDLE_BYTES, &ALL);
        assert!(small.is_some() && largest.is_some());
        assert!(Counted::new(1, &ALL).is_none());
        drop(largest);
        assert!(Counted::new(1, &ALL).is_some());
        assert_eq!(ALL.load(Ordering::Relaxed), 1000);
    }

    #[test]
    fn what_no_memory_has_is_refused_at_any_time() {
        let mut memory = Memory::default();
        let huge =
            [(usize::MAX, 8), (1 << 61, 8), ((1 << 61) - 1, 8), (1 << 60, 8), (isize::MAX as usize, 1), (1 << 63, 1)];
        let refused = |memory: &mut Memory| huge.iter().all(|(n, size)| memory.allocate(*n, *size).is_null());
        assert!(refused(&mut memory));
        // With blocks that are kept for reuse.
        let blocks = [1, 2].map(|k| memory.allocate(k * KEPT_BYTES, 8));
        // SAFETY: the block belongs to this memory, and nobody uses it.
        unsafe { memory.release(blocks[1]) };
        assert!(refused(&mut memory));
        // SAFETY: as above.
        unsafe { memory.release(blocks[0]) };
    }
}
