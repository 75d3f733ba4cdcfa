//! The extents of a run and its launches, which the next run can take over: NOTE [Launch cache].

use accel_codegen::opencl::Work;
use accel_fusion::kernel::{ArrayId, IndexVec, index_vec};
use std::sync::Arc;

/// The extents of a run, and its launches.
#[derive(Clone)]
pub struct Shapes {
    /// The extents of all arrays defined so far.
    pub extents: IndexVec<ArrayId, Vec<i64>>,
    /// The launches, by the number of the statement.
    pub launched: Vec<Option<Arc<Launched>>>,
}

/// The launch of a statement.
pub struct Launched {
    /// Its index space.
    pub space: Vec<i64>,
    pub work: Work,
}

impl Shapes {
    /// The empty cache, for a program with this number of arrays.
    pub fn new(arrays: usize) -> Shapes {
        Shapes { extents: index_vec![vec![]; arrays], launched: vec![] }
    }

    /// The extents of an array.
    pub fn sizes(&self, a: ArrayId) -> Vec<usize> {
        self.extents[a].iter().map(|e| *e as usize).collect()
    }
}

/// An index space, and the length of rows.
pub type Space = (Vec<usize>, usize);
