//! The lists of a loop on the device: arrays that get one more row in each step. If the memory is full, the rows are
//! copied to memory for twice as many.

use crate::location::{Buffers, Location, mem};
use crate::run::Run;
use crate::stop::WalkResult;
use accel_codegen::opencl::size_of;
use accel_core::ast::Dir;
use accel_core::error::{Error, Result};
use accel_fusion::kernel::{ArrayId, SiteId};

/// The number of rows of the lists of a loop, and the number for which they have memory, which is at most `most`. Lists from the right
/// lie at the end of their memory.
#[derive(Clone, Copy)]
pub struct Rows {
    used: usize,
    room: usize,
    most: usize,
    dir: Dir,
}

/// The first number of rows for which there is memory.
const FIRST: usize = 16;

impl Run<'_> {
    /// Makes the lists of a loop of at most `n` steps empty.
    pub fn empty_lists(&mut self, lists: &[ArrayId], n: i64, dir: Dir) -> WalkResult<Rows> {
        for list in lists {
            let info = &self.code.program.arrays[*list];
            let (rank, columns) = (info.rank, info.columns.len());
            self.set_extents(*list, vec![0; rank])?;
            self.put(*list, Location { host: None, device: Buffers::from_elem(None, columns) });
        }
        Ok(Rows { used: 0, room: 0, most: usize::try_from(n).unwrap_or_default(), dir })
    }

    /// Appends a row to each list.
    pub fn append(&mut self, lists: &[ArrayId], rows: &[ArrayId], at: Rows, site: SiteId) -> WalkResult<Rows> {
        let room = if at.used < at.room { at.room } else { (2 * at.room).max(FIRST).min(at.most) };
        let (place, moved) = match at.dir {
            Dir::Left => (at.used, 0),
            Dir::Right => (room - 1 - at.used, room - at.used),
        };
        for (list, row) in lists.iter().zip(rows) {
            let of_row = self.shapes.extents[*row].clone();
            if at.used > 0 && self.shapes.extents[*list][1..] != of_row[..] {
                let sizes = |e: &[i64]| e.iter().map(|e| *e as usize).collect::<Vec<_>>();
                let before = sizes(&self.shapes.extents[*list][1..]);
                return Err(Error::other_row(self.site(site), &before, &sizes(&of_row)).into());
            }
            let with = |rows: usize| [&[rows as i64], &of_row[..]].concat();
            if room > at.room {
                self.set_extents(*list, with(room))?;
                self.move_rows(*list, at.used, moved, self.count(*row), site)?;
            }
            self.set_extents(*list, with(at.used + 1))?;
            self.copy_row(*row, *list, place)?;
        }
        Ok(Rows { used: at.used + 1, room, ..at })
    }

    /// Gives the lists memory of their size, which other parts of a run expect. Those of a known number of rows have it.
    pub fn finish_lists(&mut self, lists: &[ArrayId], at: Rows, site: SiteId) -> WalkResult<()> {
        for list in lists.iter().filter(|_| at.used < at.room) {
            self.move_rows(*list, at.used, 0, self.count(*list) / at.used, site)?;
        }
        Ok(())
    }

    /// Moves the first rows, of size `n`, to memory for the present extents of the list, from row `to` on.
    fn move_rows(&mut self, list: ArrayId, rows: usize, to: usize, n: usize, site: SiteId) -> Result<()> {
        let old = self.arrays[list].device.clone();
        let types = self.code.program.arrays[list].columns.clone();
        let mut device = Buffers::new();
        for (t, old) in types.into_iter().zip(old) {
            let new = self.allocate(list, t, site)?;
            if let (Some(old), Some(new)) = (&old, &new) {
                let (at, bytes) = (size_of(t, to * n), size_of(t, rows * n));
                self.code.module.device.queue.copy_to(mem(old)?, mem(new)?, at, bytes)?;
            }
            device.push(new);
        }
        self.put(list, Location { host: None, device });
        Ok(())
    }

    /// Copies an array to row `k` of a list.
    fn copy_row(&mut self, row: ArrayId, list: ArrayId, k: usize) -> Result<()> {
        let (n, types) = (self.count(row), self.code.program.arrays[row].columns.clone());
        for (c, t) in types.into_iter().enumerate().filter(|_| n > 0) {
            self.on_device(row, c)?;
            if let (Some(from), Some(to)) = (&self.arrays[row].device[c], &self.arrays[list].device[c]) {
                let (at, bytes) = (size_of(t, k * n), size_of(t, n));
                self.code.module.device.queue.copy_to(mem(from)?, mem(to)?, at, bytes)?;
            }
        }
        Ok(())
    }
}
