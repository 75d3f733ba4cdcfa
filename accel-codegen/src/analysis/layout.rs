//! The layout of a run's tables: where the extents and columns of each array are.

use accel_fusion::kernel::{ArrayId, IndexVec, Program};

/// Positions in the tables of a run. The tables contain the extents, and the columns, of all arrays one after the
/// other.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The position of each array's outermost extent.
    pub extents: IndexVec<ArrayId, usize>,
    /// The position of each array's first column.
    pub columns: IndexVec<ArrayId, usize>,
    /// The total number of extents.
    pub extent_count: usize,
    /// The total number of columns.
    pub column_count: usize,
}

impl Layout {
    /// The layout for a program's arrays.
    pub fn new(program: &Program) -> Layout {
        let mut l = Layout { extents: IndexVec::new(), columns: IndexVec::new(), extent_count: 0, column_count: 0 };
        for a in &program.arrays {
            l.extents.push(l.extent_count);
            l.columns.push(l.column_count);
            l.extent_count += a.rank;
            l.column_count += a.columns.len();
        }
        l
    }
}
