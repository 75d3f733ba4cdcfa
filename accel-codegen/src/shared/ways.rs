//! The ways in which reductions and scans are computed.
//!
//! NOTE [Ways on demand]: a reduction has a kernel for many short rows and one for few long rows, loops along rows, across rows, and in tiles.
//! Extents decide between these ways in the run. Each has its own copy of the code of an element, so a fused sum in the gradient of a
//! transformer had 340 lines of C. If the extents of the first inputs tell those of a reduction or scan, then the others are not written. In the
//! place of each is a failure, [`WAY`](crate::analysis::fault::WAY): the backend then compiles the program with all ways, for the rest of the
//! process. A way is taken under the same conditions in both programs, so it is the same way for the same inputs.

use accel_fusion::kernel::ArrayId;
use std::collections::BTreeMap;

/// A way to compute a reduction or a scan, or a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Way {
    /// By several threads.
    Large,
    /// In tiles.
    Tiles,
    /// Neighbouring rows that are columns in memory.
    Columns,
    /// The same, in parts of the rows.
    ColumnParts,
    /// Several rows side by side.
    Across,
    /// One short row after the other.
    Short,
    /// One long row after the other.
    Long,
    /// Each row in parts.
    Parts,
}

/// Some ways.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ways(u8);

impl Ways {
    pub const ALL: Ways = Ways(u8::MAX);
    pub const NONE: Ways = Ways(0);

    pub fn has(self, way: Way) -> bool {
        self.0 & 1 << way as u8 != 0
    }

    pub fn has_any(self, ways: &[Way]) -> bool {
        ways.iter().any(|way| self.has(*way))
    }

    /// Whether a reduction or scan has the kernel with this role.
    pub fn has_function(self, role: &str) -> bool {
        match role {
            "rows" => self.has_any(&[Way::Tiles, Way::Columns, Way::Across, Way::Short, Way::Long]),
            "tile" => self.has(Way::Tiles),
            "column_part" => self.has(Way::ColumnParts),
            "all" => self.has(Way::Large),
            _ => self.has(Way::Parts),
        }
    }

    pub fn or(self, other: Ways) -> Ways {
        Ways(self.0 | other.0)
    }

    pub fn with(self, way: Way) -> Ways {
        Ways(self.0 | 1 << way as u8)
    }
}

/// The ways of the reductions and scans for which they are known.
pub type KnownWays = BTreeMap<ArrayId, Ways>;

/// The ways of a reduction or scan that are written: all, if they are not known.
pub fn known_ways(known: &KnownWays, to: ArrayId) -> Ways {
    known.get(&to).copied().unwrap_or(Ways::ALL)
}
