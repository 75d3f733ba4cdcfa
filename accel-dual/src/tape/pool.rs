//! Memory that finished tapes leave to new ones. Without it, the operating system would provide each page of each tape anew,
//! which takes longer than recording the tape.

use super::node::Node;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The largest number of vectors that a pool keeps.
const VECTORS: usize = 64;
/// The size in bytes from which a vector is worth keeping.
pub const LEAST: usize = 1 << 12;
/// The largest number of bytes that a pool keeps.
const BYTES: usize = 1 << 30;

/// Empty vectors with memory.
#[derive(Debug)]
pub struct Pool<T> {
    kept: Mutex<Kept<T>>,
}

#[derive(Debug)]
struct Kept<T> {
    vectors: Vec<Vec<T>>,
    bytes: usize,
}

impl<T> Pool<T> {
    const fn new() -> Self {
        Pool { kept: Mutex::new(Kept { vectors: Vec::new(), bytes: 0 }) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept<T>> {
        // No code that can panic runs while the lock is held.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The vector that was given last, or one without memory. Its elements are still there.
    pub fn take(&self) -> Vec<T> {
        let mut kept = self.kept();
        let vector = kept.vectors.pop().unwrap_or_default();
        kept.bytes -= bytes(&vector);
        vector
    }

    /// Keeps the memory of a vector, unless it is small.
    pub fn give(&self, vector: Vec<T>) {
        let size = bytes(&vector);
        if size < LEAST {
            return;
        }
        let mut kept = self.kept();
        if kept.vectors.len() < VECTORS && kept.bytes + size <= BYTES {
            kept.bytes += size;
            kept.vectors.push(vector);
        }
    }

    /// Returns all memory to the system.
    pub fn clear(&self) {
        let mut kept = self.kept();
        kept.bytes = 0;
        kept.vectors = Vec::new();
    }
}

fn bytes<T>(vector: &Vec<T>) -> usize {
    vector.capacity() * size_of::<T>()
}

/// The tapes of `f64`.
pub static WIDE_NODES: Pool<Node<f64>> = Pool::new();
/// The tapes of `f32`.
pub static SINGLE_NODES: Pool<Node<f32>> = Pool::new();
/// The adjoints of `f64`.
pub static WIDE_CELLS: Pool<AtomicU64> = Pool::new();
/// The adjoints of `f32`.
pub static SINGLE_CELLS: Pool<AtomicU32> = Pool::new();

/// Returns the memory that tapes have kept for later tapes to the system.
///
/// Up to 1 GiB is kept for the tapes of each of `f32` and `f64`, and as much for their adjoints.
pub fn release_memory() {
    WIDE_NODES.clear();
    SINGLE_NODES.clear();
    WIDE_CELLS.clear();
    SINGLE_CELLS.clear();
}
