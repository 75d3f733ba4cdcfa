//! The memory and the operations that a strip needs, and the sizes from which on strips do not pay.

use super::partition::LANES;
use accel_core::repr::Scalar;
use accel_fusion::kernel::{ArrayId, Code, Instr};

/// What a task of a strip needs and takes.
#[derive(Clone, Debug)]
pub struct Usage {
    /// Arrays with the sizes of an element, once for every column.
    pub held: Vec<(ArrayId, usize)>,
    pub totals: Vec<(ArrayId, usize)>,
    /// Statements: an array, the number of its dimensions that are not those of the statement at one position, and the cost and the length
    /// of a row.
    pub work: Vec<(ArrayId, usize, usize, Length)>,
}

/// The length of rows.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    Known(usize),
    Extent(ArrayId, usize),
}

impl Length {
    /// As far as it can be told without executing the code.
    pub fn of(len: &Code) -> Length {
        let simple = |i: &Instr| match i {
            Instr::Const(r, Scalar::I64(n)) if len.results == [*r] => Some(Length::Known((*n).max(0) as usize)),
            Instr::Extent(r, a, dim) if len.results == [*r] => Some(Length::Extent(*a, *dim)),
            _ => None,
        };
        len.instrs.iter().find_map(simple).unwrap_or(Length::Known(LANES))
    }
}

impl Usage {
    /// The bytes of working memory of a task, the bytes of its partial totals, and about how many operations a position takes.
    pub fn sizes(&self, extents: &[Vec<i64>]) -> [usize; 3] {
        let size =
            |a: ArrayId, from: usize| extents[a].iter().skip(from).fold(1usize, |n, e| n.saturating_mul(*e as usize));
        let room = |n: usize, bytes: usize| n.saturating_mul(bytes).div_ceil(64).saturating_mul(64);
        let sum = |all: &[(ArrayId, usize)], from: usize, each: usize| {
            all.iter().fold(0usize, |n, (a, bytes)| n.saturating_add(room(size(*a, from), each * bytes)))
        };
        let length = |l: Length| match l {
            Length::Known(n) => n,
            Length::Extent(a, dim) => extents[a][dim] as usize,
        };
        let work = self.work.iter().fold(0usize, |n, (a, from, each, l)| {
            n.saturating_add(size(*a, *from).saturating_mul(length(*l)).saturating_mul(*each))
        });
        [sum(&self.held, 1, LANES), sum(&self.totals, 0, 1), work]
    }
}

/// With fewer positions than this, most lanes of a strip are idle.
pub const SHORT: usize = 8;

/// A strip of a short dimension that takes more bytes than this is not worth it ..
pub const LARGE_FOR_SHORT: usize = 1 << 18;

/// .. and no strip that takes more than this, which is far more than the caches.
pub const LARGE: usize = 32 << 20;

/// The most bytes of working memory of a strip of so many positions.
pub fn largest(positions: usize) -> usize {
    if positions < SHORT { LARGE_FOR_SHORT } else { LARGE }
}
