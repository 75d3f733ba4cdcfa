//! Kernel programs as OpenCL C: the text of all kernels, and for every statement which kernels do it with which arguments.
//!
//! A backend walks the statements (see [`crate::liveness`]), computes their extents, allocates, and for each statement that computes
//! elements asks [`Statement::work`] what to launch. Nothing here talks to a device.

mod atomic;
mod emit;
mod gpu;
mod group;
mod lanes;
mod launch;
mod look_back;
mod permute;
mod product;
mod rows;
mod scan;
mod strip;
mod tiles;
mod together;
pub(crate) mod vectors;

pub use emit::emit;
pub use together::{Part, PartId, Place, Together};

use crate::ops::bytes;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::ArrayId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What kind of device kernels are printed for: NOTE [Two shapes of kernels].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// Many small work-items that share local memory.
    Gpu,
    /// One work-item for each part of the work, which runs through it with vector operations.
    Cpu,
}

/// What the code is printed for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// Its kind.
    pub shape: Shape,
    /// How many compute units the device has.
    pub units: usize,
    /// The largest work-group that the device takes.
    pub largest_group: usize,
    /// The bytes of local memory of a work-group.
    pub local_memory: usize,
    /// Whether positions are counted with 64 bits: they must be where an array has 2³¹ elements or more.
    pub wide: bool,
    /// Whether there are atomic operations on 64-bit integers.
    pub atomics_64: bool,
    /// Whether a group that has started goes on while others wait for it, and there are atomic operations on 64-bit integers: then a
    /// GPU scans long rows in one launch.
    pub look_back: bool,
}

/// The kernels of a program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text.
    pub source: String,
    /// Whether it needs 64-bit floating-point numbers.
    pub needs_fp64: bool,
    /// By the number of the statement ([`crate::liveness::Step::number`]); those without kernels are missing.
    pub statements: BTreeMap<usize, Statement>,
    /// The kernels that do what others do.
    pub together: Vec<Together>,
}

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

/// A parameter of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Arg {
    /// An extent of an array, an `i64`.
    Extent(ArrayId, usize),
    /// A column of an array, a buffer.
    Column(ArrayId, usize),
    /// An extent of the index space of the statement (its outer extents for rows), an `i64`.
    Space(usize),
    /// A number of the [`Launch`], an `i64`.
    Number(usize),
    /// A buffer of the [`Work`].
    Scratch(usize),
    /// Local memory of the [`Launch`].
    Local(usize),
    /// The record of what failed, a buffer of [`crate::fault::record_length`] `i64`, of which the first is 0 as long as nothing has.
    Fault,
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

/// The kernels of a statement.
#[derive(Clone, Debug)]
pub struct Statement {
    plan: Plan,
    /// About how many simple operations an element takes.
    cost: usize,
}

/// How the statement is done.
#[derive(Clone, Debug)]
enum Plan {
    /// `pieces` are the columns of a result that can be written in pieces.
    Loop {
        kernel: Kernel,
        cost: usize,
        pieces: Vec<ScalarType>,
    },
    Reduce(Box<rows::Reduction>),
    Scan(rows::Scanning),
    Permute(permute::Permutation),
    Strip(strip::Strips),
}

impl Statement {
    /// What to launch for a statement of these sizes. Nothing, if there is nothing to compute. A permutation expects a copy of its
    /// defaults in the array that it defines; a strip, the extents of all arrays of its body.
    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        match &self.plan {
            Plan::Loop { kernel, cost, pieces } => launch::loop_(kernel, sizes, *cost, pieces, target),
            Plan::Reduce(r) => r.work(sizes, target),
            Plan::Scan(s) => s.work(sizes, target),
            Plan::Permute(p) => p.work(sizes, target),
            Plan::Strip(s) => s.work(sizes, target),
        }
    }

    /// About how many simple operations it takes.
    pub fn operations(&self, sizes: &Sizes) -> usize {
        let each = match &self.plan {
            Plan::Strip(s) => s.cost(sizes),
            _ => self.cost.saturating_mul(sizes.len as usize),
        };
        launch::count(sizes.space).saturating_mul(each)
    }

    /// Whether a strip would take so much memory that its statements are better executed one by one, by the program without strips.
    pub fn is_too_large(&self, sizes: &Sizes) -> bool {
        matches!(&self.plan, Plan::Strip(s) if s.is_too_large(sizes))
    }
}

/// The bytes of `n` elements.
pub fn size_of(t: ScalarType, n: usize) -> usize {
    bytes(t) as usize * n
}
