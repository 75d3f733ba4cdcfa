//! Additions to the elements of sums.
//!
//! NOTE [Additions at the same time]: in C, the memory of a sum belongs to one thread. On OpenCL devices, several
//! work-items add to the same sum, by atomic operations if the number has 32 or 64 bits. For integers, these are the
//! device's own. For other numbers, an item repeats a compare-and-swap until no other item has changed the number
//! meanwhile. So the order of additions is undefined. An item that has copies of the sums adds to these alone. For
//! numbers of other sizes, and for 64 bits on devices without such operations, one item executes the whole statement.

use super::writer::Writer;
use crate::opencl;
use accel_core::repr::ScalarType;

impl Writer<'_> {
    /// Adds `x` to a number in memory.
    pub fn add_to_sum(&mut self, place: &str, t: ScalarType, x: &str) {
        match self.dialect().shares_sums() {
            true => opencl::sums::add(self, place, t, x),
            false => self.line(format!("{place} += {x};")),
        }
    }
}
