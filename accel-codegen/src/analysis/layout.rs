//! Where the extents and columns of each array are in the tables of a run.

use accel_fusion::kernel::Program;

/// Positions in the tables of a run, which hold the extents, and the columns, of all arrays one after the other.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The position of each array's outermost extent.
    pub extents: Vec<usize>,
    /// The position of each array's first column.
    pub columns: Vec<usize>,
    /// How many extents there are.
    pub extent_count: usize,
    /// How many columns there are.
    pub column_count: usize,
}

impl Layout {
    /// The layout for a program's arrays.
    pub fn new(program: &Program) -> Layout {
        let mut l = Layout { extents: vec![], columns: vec![], extent_count: 0, column_count: 0 };
        for a in &program.arrays {
            l.extents.push(l.extent_count);
            l.columns.push(l.column_count);
            l.extent_count += a.rank;
            l.column_count += a.columns.len();
        }
        l
    }
}
