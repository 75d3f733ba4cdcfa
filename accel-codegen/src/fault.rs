//! The record that generated code leaves when it fails: `[kind, site, what, numbers..]`.

use accel_core::error::Error;
use accel_fusion::kernel::{ArrayId, Program, SiteId, machine};

/// An index outside of an array that is read: the site of the read, the array, the index.
pub const READ: i64 = 1;
/// A target of a permutation outside of the array: the site of the statement, the array, the index.
pub const TARGET: i64 = 2;
/// An integer division by zero: the site of the statement, the operation (a position in [`DIVISIONS`]).
pub const DIVISION: i64 = 3;
/// A negative extent: the site of the statement, how many extents there are, the extents.
pub const NEGATIVE: i64 = 4;
/// An array that is too large for any memory, or for what there is: the site of the statement, its rank, its extents.
pub const MEMORY: i64 = 5;
/// Empty rows without an initial value: the site of the statement, the rank, the extents.
pub const EMPTY: i64 = 6;
/// A reshape to another size: the site of the statement, the new array (its extents are in the table), the old one.
pub const RESHAPE: i64 = 7;
/// A strip that would take too much memory: the statements have to be executed one by one, by the program without strips.
pub const STRIP: i64 = 8;

/// The names of the operations that can divide by zero.
pub const DIVISIONS: [&str; 4] = ["/", "%", "div_euclid", "rem_euclid"];

/// How many numbers a record has.
pub fn record_length(program: &Program) -> usize {
    // Extents of rows have one more than those of their results.
    4 + program.arrays.iter().map(|a| a.rank).max().unwrap_or(0)
}

/// The error that a record tells of. `statement` is the site of the statement that failed, `shape` that of an array.
pub fn error(program: &Program, record: &[i64], statement: SiteId, shape: impl Fn(ArrayId) -> Vec<usize>) -> Error {
    let (kind, site, what) = (record[0], record[1] as usize, record[2] as usize);
    let op = program.sites[site].to_string();
    let extents = |n: usize| record[3..3 + n].iter().map(|e| *e as usize).collect::<Vec<_>>();
    match kind {
        DIVISION => Error::DivisionByZero { op: DIVISIONS[what], within: format!(" in {op}") },
        READ | TARGET => {
            let unknown = kind == READ && program.sites[site].at.is_none();
            let op = if unknown { format!("`index` in {}", program.sites[statement]) } else { op };
            let rank = program.arrays[what].rank;
            let error = Error::OutOfBounds { op, index: record[3..3 + rank].to_vec(), shape: shape(what) };
            if program.sites[site].proved { machine::wrong_proof(&error) } else { error }
        }
        NEGATIVE => Error::Shape {
            op,
            expected: "extents that are not negative".into(),
            found: format!("{:?}", &record[3..3 + what]),
        },
        MEMORY => Error::Memory { op, shape: extents(what) },
        // The last extent is that of the rows: 0.
        EMPTY => machine::empty_rows(program, site, &extents(what - 1)),
        RESHAPE => machine::other_size(program, site, &shape(record[3] as usize), &shape(what)),
        _ => Error::Internal("generated code failed in an unknown way".into()),
    }
}
