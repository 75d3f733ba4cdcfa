//! The work of a statement on a device: kernels, their arguments and sizes.

use crate::text::parameters::Arg;
use crate::text::types::bytes;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, IndexVec};
use std::sync::Arc;

/// A kernel of the text. Clones are cheap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters in order.
    pub args: Arc<[Arg]>,
}

/// The index space of a statement, and the length of its rows.
#[derive(Clone, Debug)]
pub struct Sizes<'a> {
    /// The extents of the index space: those of the result of a loop, the outer ones of a reduction, a scan or a sort,
    /// those of the source of a permutation, and the one dimension of a strip.
    pub space: &'a [i64],
    /// The length of the rows of a reduction, a scan or a sort; otherwise 1.
    pub len: i64,
    /// The extents of all arrays defined so far, by array.
    pub extents: &'a IndexVec<ArrayId, Vec<i64>>,
}

/// The work of a statement on the device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// The sizes of the buffers that exist only during the statement, in bytes. Their initial contents are undefined.
    pub scratch: Vec<usize>,
    /// The launches, in order.
    pub launches: Vec<Launch>,
}

/// One launch of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// What is called.
    pub kernel: Kernel,
    /// The number of work-items in each of two dimensions.
    pub global: [usize; 2],
    /// The size of a work-group; it divides `global`.
    pub group: [usize; 2],
    /// The numbers that are passed to the kernel.
    pub numbers: Vec<i64>,
    /// The sizes of the local memory for the kernel, in bytes.
    pub local: Vec<usize>,
}

/// The size of `n` elements, in bytes.
pub fn size_of(t: ScalarType, n: usize) -> usize {
    bytes(t) as usize * n
}
