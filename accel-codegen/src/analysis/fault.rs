//! The record that generated code leaves when it fails: `[kind, site, what, numbers..]`.

use accel_core::error::Error;
use accel_core::repr::op::{Int2, Num2, Op2};
use accel_core::repr::{Agreement, ScalarType};
use accel_fusion::kernel::{ArrayId, Op, Program, SiteId, machine};

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
/// Shapes that do not agree: the site of the statement, what is demanded (a position in [`Agreement::ALL`]), both ranks, both shapes.
pub const AGREE: i64 = 9;

/// The names of the operations that can divide by zero.
pub const DIVISIONS: [&str; 4] = ["/", "%", "div_euclid", "rem_euclid"];

/// The name of an operation that can divide by zero, as a position in [`DIVISIONS`].
pub fn division(op: Op2, t: ScalarType) -> Option<usize> {
    match op {
        Op2::Num(Num2::Div) if t.is_integral() => Some(0),
        Op2::Num(Num2::Rem) if t.is_integral() => Some(1),
        Op2::Int(Int2::DivEuclid) => Some(2),
        Op2::Int(Int2::RemEuclid) => Some(3),
        _ => None,
    }
}

/// How many numbers a record has.
pub fn record_length(program: &Program) -> usize {
    // Extents of rows have one more than those of their results.
    let shape = 4 + program.arrays.iter().map(|a| a.rank).max().unwrap_or(0);
    shape.max(program.body.walk().map(|s| agreement(&s.op)).max().unwrap_or(0))
}

/// How many numbers a record of shapes that do not agree has.
fn agreement(op: &Op) -> usize {
    match op {
        Op::Agree { left, right, .. } => 5 + left.results.len() + right.results.len(),
        _ => 0,
    }
}

/// The number that a record has for what is demanded.
pub fn agreement_number(agreement: Agreement) -> usize {
    Agreement::ALL.iter().position(|a| *a == agreement).unwrap_or_default()
}

/// The error that a record tells of. `statement` is the site of the statement that failed, `shape` that of an array.
pub fn error(program: &Program, record: &[i64], statement: SiteId, shape: impl Fn(ArrayId) -> Vec<usize>) -> Error {
    told(program, record, statement, shape)
        .unwrap_or_else(|| Error::Internal(format!("generated code failed in an unknown way: {record:?}")))
}

/// `None` for a record that generated code does not leave: what a device hands back is not ours.
fn told(program: &Program, record: &[i64], statement: SiteId, shape: impl Fn(ArrayId) -> Vec<usize>) -> Option<Error> {
    let number = |k: usize| usize::try_from(*record.get(k)?).ok();
    let (kind, site, what) = (*record.first()?, number(1)?, number(2)?);
    let numbers = |n: usize| record.get(3..n.checked_add(3)?);
    let extents = |n: usize| Some(numbers(n)?.iter().map(|e| *e as usize).collect::<Vec<_>>());
    let array = |a: usize| program.arrays.get(a);
    let at = program.sites.get(site)?;
    let op = at.to_string();
    Some(match kind {
        DIVISION => Error::DivisionByZero { op: DIVISIONS.get(what)?, within: format!(" in {op}") },
        READ | TARGET => {
            let unknown = kind == READ && at.at.is_none();
            let op = if unknown { format!("`index` in {}", program.sites.get(statement)?) } else { op };
            let index = numbers(array(what)?.rank)?.to_vec();
            let error = Error::OutOfBounds { op, index, shape: shape(what) };
            if at.proved { machine::wrong_proof(&error) } else { error }
        }
        NEGATIVE => Error::Shape {
            op,
            expected: "extents that are not negative".into(),
            found: format!("{:?}", numbers(what)?),
        },
        MEMORY => Error::Memory { op, shape: extents(what)? },
        // The last extent is that of the rows: 0.
        EMPTY => machine::empty_rows(program, site, &extents(what.checked_sub(1)?)?),
        RESHAPE => {
            array(what)?;
            let new = number(3).filter(|a| array(*a).is_some())?;
            machine::other_size(program, site, &shape(new), &shape(what))
        }
        AGREE => {
            let (agreement, ranks) = (*Agreement::ALL.get(what)?, [number(3)?, number(4)?]);
            let (left, rest) = record.get(5..)?.split_at_checked(ranks[0])?;
            agreement.violated(op, left, rest.get(..ranks[1])?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use accel_fusion::kernel::{ArrayInfo, Site};

    #[test]
    fn records_of_nothing_that_there_is() {
        let sites = vec![Site { name: "map", at: None, proved: false }];
        let program = Program { arrays: vec![ArrayInfo { rank: 2, columns: vec![] }], sites, ..Program::default() };
        let error = |record: &[i64]| error(&program, record, 0, |_| vec![3, 4]).to_string();
        assert_eq!(error(&[READ, 0, 0, 5, 6]), "`index` in `map`: index [5, 6] is outside the shape [3, 4]");
        let far = i64::MAX;
        for kind in [READ, TARGET, DIVISION, NEGATIVE, MEMORY, EMPTY, RESHAPE, STRIP, AGREE, 99, -1] {
            let records: [&[i64]; 5] =
                [&[], &[kind], &[kind, far, 0, 0, 0], &[kind, 0, far, 0, 0], &[kind, -1, -1, 0, 0]];
            records.iter().for_each(|r| assert!(error(r).contains("in an unknown way"), "{r:?}"));
        }
        assert!(error(&[READ, 0, 0, 5]).contains("in an unknown way"), "an index that is too short");
    }
}
