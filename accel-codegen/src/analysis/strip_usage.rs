//! The memory and the operations of a strip, and the sizes above which strips do not pay.

use crate::cost_model::{LANES, LINE, STRIPS};
use accel_core::repr::Scalar;
use accel_fusion::kernel::{ArrayId, IndexVec, Instr, ScalarFn};

/// The memory and the work of a task of a strip.
#[derive(Clone, Debug)]
pub struct Usage {
    /// The arrays in the strip's working memory: an array and the size of an element, for every column.
    pub held: Vec<(ArrayId, usize)>,
    pub totals: Vec<(ArrayId, usize)>,
    /// The statements: an array, the number of its dimensions that a single position does not fix, the cost of an
    /// element, and the length of a row.
    pub work: Vec<(ArrayId, usize, usize, Length)>,
}

/// The length of rows.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    Known(usize),
    Extent(ArrayId, usize),
}

impl Length {
    /// The length, as far as it is known without executing the scalar function.
    pub fn of(len: &ScalarFn) -> Length {
        let simple = |i: &Instr| match i {
            Instr::Const(r, Scalar::I64(n)) if len.results == [*r] => Some(Length::Known((*n).max(0) as usize)),
            Instr::Extent(r, a, dim) if len.results == [*r] => Some(Length::Extent(*a, *dim)),
            _ => None,
        };
        len.instrs.iter().find_map(simple).unwrap_or(Length::Known(LANES))
    }
}

impl Usage {
    /// The size of a task's working memory, the size of its partial totals (both in bytes), and the approximate number
    /// of operations of a position.
    pub fn sizes(&self, extents: &IndexVec<ArrayId, Vec<i64>>) -> [usize; 3] {
        let size =
            |a: ArrayId, from: usize| extents[a].iter().skip(from).fold(1usize, |n, e| n.saturating_mul(*e as usize));
        let room = |n: usize, bytes: usize| n.saturating_mul(bytes).div_ceil(LINE).saturating_mul(LINE);
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

/// The limit for the working memory of a strip of this many positions, in bytes.
pub fn largest(positions: usize) -> usize {
    STRIPS.iter().find(|(below, _)| positions < *below).map_or(0, |(_, bytes)| *bytes)
}

/// The same as an expression of C.
pub fn largest_in_c(positions: &str) -> String {
    let [few @ .., (_, last)] = STRIPS;
    let choice = |(below, bytes): &(usize, usize)| format!("{positions} < {below} ? {bytes} : ");
    format!("({}{last})", few.iter().map(choice).collect::<String>())
}
