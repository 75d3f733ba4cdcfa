//! The record that a generated function leaves when it fails: `[kind, site, what, index..]`.

use accel_fusion::kernel::Program;

/// An index outside of an array that is read: the site of the read, the array, the index.
pub const READ: i64 = 1;
/// A target of a permutation outside of the array: the site of the statement, the array, the index.
pub const TARGET: i64 = 2;
/// An integer division by zero: the site of the statement, the operation (a position in [`DIVISIONS`]).
pub const DIVISION: i64 = 3;

/// The names of the operations that can divide by zero.
pub const DIVISIONS: [&str; 4] = ["/", "%", "div_euclid", "rem_euclid"];

/// How many numbers a record has.
pub fn record_length(program: &Program) -> usize {
    3 + program.arrays.iter().map(|a| a.rank).max().unwrap_or(0)
}
