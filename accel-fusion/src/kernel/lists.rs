//! Lists of arrays of one shape: what the lists of a loop contain after some steps.

use super::ir::ArrayInfo;
use accel_core::ast::Dir;
use accel_core::error::{Error, Result};
use accel_core::repr::{Column, Columns, RawArray, RawExtents};

/// A list that grows.
pub struct List {
    rows: usize,
    /// The extents of a row, once there is one.
    extents: Option<RawExtents>,
    rank: usize,
    columns: Columns,
}

impl List {
    /// A list without rows. `info` describes the list.
    pub fn new(info: &ArrayInfo) -> List {
        let columns = info.columns.iter().map(|t| Column::with_capacity(*t, 0)).collect();
        List { rows: 0, extents: None, rank: info.rank, columns }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// A row with other extents than the ones before, on behalf of the operation `op`.
    pub fn push(&mut self, row: &RawArray, op: impl Fn() -> String) -> Result<()> {
        let extents = self.extents.get_or_insert_with(|| row.extents.clone());
        if *extents != row.extents {
            return Err(Error::other_row(op(), extents, &row.extents));
        }
        for (to, from) in self.columns.iter_mut().zip(&row.columns) {
            to.append(from);
        }
        self.rows += 1;
        Ok(())
    }

    /// The list as an array, whose rows were added in this direction.
    pub fn finish(self, dir: Dir) -> RawArray {
        let none = || std::iter::repeat_n(0, self.rank - 1).collect();
        let mut extents: RawExtents = [self.rows].into_iter().collect();
        extents.extend(self.extents.unwrap_or_else(none));
        let backwards = |c: Column| {
            let (size, mut all) = (c.len() / self.rows.max(1), Column::with_capacity(c.ty(), c.len()));
            let places = (0..self.rows).rev().flat_map(|row| row * size..(row + 1) * size);
            places.filter_map(|i| c.get(i)).for_each(|x| _ = all.push(x));
            all
        };
        let columns = match dir {
            Dir::Left => self.columns,
            Dir::Right => self.columns.into_iter().map(backwards).collect(),
        };
        RawArray { extents, columns }
    }
}
