//! What a statement does on a device: kernels, their arguments and sizes.

use super::batch::PartId;
use crate::text::parameters::Arg;
use crate::text::types::bytes;
use accel_core::repr::ScalarType;
use std::sync::Arc;

/// A kernel of the text. Its clones are the same one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters in order.
    pub args: Arc<[Arg]>,
    /// Where another kernel can do the same, with one item, if that kernel exists.
    pub part: Option<PartId>,
}

/// The index space of a statement, and how long its rows are.
#[derive(Clone, Debug)]
pub struct Sizes<'a> {
    /// The extents of the index space: of the result of a loop, the outer ones of a reduction or a scan, of the source of a permutation;
    /// of a strip, its one dimension.
    pub space: &'a [i64],
    /// The length of the rows of a reduction or a scan, otherwise 1.
    pub len: i64,
    /// The extents of all arrays defined so far, by array.
    pub extents: &'a [Vec<i64>],
}

/// What a statement does on the device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// The bytes of buffers that exist only during the statement; their contents are undefined at first.
    pub scratch: Vec<usize>,
    /// What is enqueued, in this order.
    pub launches: Vec<Launch>,
}

/// One call of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// What is called.
    pub kernel: Kernel,
    /// How many work-items there are in each of two dimensions.
    pub global: [usize; 2],
    /// How many of them are a work-group; it divides `global`.
    pub group: [usize; 2],
    /// The numbers that the kernel gets.
    pub numbers: Vec<i64>,
    /// The bytes of local memory that it gets.
    pub local: Vec<usize>,
}

/// The bytes of `n` elements.
pub fn size_of(t: ScalarType, n: usize) -> usize {
    bytes(t) as usize * n
}
