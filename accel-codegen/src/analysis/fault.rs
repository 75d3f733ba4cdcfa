//! The fault record, which generated code writes when it fails: `[kind, site, what, numbers..]`.

use accel_core::error::Error;
use accel_core::repr::Agreement;
use accel_core::repr::op::Op2;
use accel_fusion::kernel::{ArrayId, Idx, IndexVec, Program, SiteId, scalar_evaluation};

/// An index of a read out of bounds: the site of the read, the array, the index.
pub const READ: i64 = 1;
/// A target of a permutation out of bounds: the site of the statement, the array, the index.
pub const TARGET: i64 = 2;
/// An integer division by zero: the site of the statement, the operation (a position in [`DIVISIONS`]).
pub const DIVISION: i64 = 3;
/// A negative extent: the site of the statement, the number of extents, the extents.
pub const NEGATIVE: i64 = 4;
/// An array for which there is not enough memory: the site of the statement, its rank, its extents.
pub const MEMORY: i64 = 5;
/// Empty rows without an initial value: the site of the statement, the rank, the extents.
pub const EMPTY: i64 = 6;
/// A reshape to another size: the site of the statement, the new array (its extents are in the table), the old one.
pub const RESHAPE: i64 = 7;
/// A strip that does not pay: the site of the statement, the first array that it defines. The program without this strip has to
/// execute its statements one by one.
pub const STRIP: i64 = 8;
/// Shapes that do not agree: the site of the statement, the condition (a position in [`Agreement::ALL`]), both ranks,
/// both shapes.
pub const AGREE: i64 = 9;
/// A row of a list with other extents than the rows before: the site of the statement, the rank of the rows, the extents
/// of both.
pub const ROWS: i64 = 10;
/// A panic in a function that generated code calls: the site of the statement.
pub const PANIC: i64 = 11;
/// A failure whose record would be longer than [`record_length`]: the site of the statement, the kind.
pub const SHORT: i64 = 12;
/// A way to compute a reduction that the program was compiled without: nothing else.
pub const WAY: i64 = 13;

/// The names of the operations that can divide by zero.
pub const DIVISIONS: [&str; 4] = ["/", "%", "div_euclid", "rem_euclid"];

/// The name of an operation that can divide by zero, as a position in [`DIVISIONS`].
pub fn division(op: Op2) -> usize {
    DIVISIONS.iter().position(|name| *name == op.name()).unwrap_or_default()
}

/// The length of a record.
///
/// NOTE [Length of fault records]: a record ends with at most two lists of numbers, after the ranks of both. A list is an index or
/// extents: it has as many numbers as an array has dimensions, or as a scalar function has results, and one more for the length of
/// rows. So this does not repeat what each statement writes. [`Declarations`](crate::text::declarations::Declarations) gives the length
/// of the whole program to all that writes records, which writes [`SHORT`] if it does not suffice.
pub fn record_length(program: &Program) -> usize {
    let ranks = program.arrays.iter().map(|a| a.rank);
    let results = program.body.walk().flat_map(|s| s.op.scalar_fns()).map(|(_, code)| code.results.len());
    5 + 2 * (1 + ranks.chain(results).max().unwrap_or(0))
}

/// The number of a condition in a record.
pub fn agreement_number(agreement: Agreement) -> usize {
    Agreement::ALL.iter().position(|a| *a == agreement).unwrap_or_default()
}

/// The entry of a table that a number in a record names. The number comes from a device, so it is not trusted.
pub fn entry<I: Idx, T>(table: &IndexVec<I, T>, number: i64) -> Option<I> {
    usize::try_from(number).ok().filter(|n| *n < table.len()).map(I::from_usize)
}

/// The error that a record describes. `statement` is the site of the statement that failed, if it is known; `shape` gives
/// the shape of an array.
pub fn error(
    program: &Program,
    record: &[i64],
    statement: Option<SiteId>,
    shape: impl Fn(ArrayId) -> Vec<usize>,
) -> Error {
    told(program, record, statement, shape)
        .unwrap_or_else(|| Error::Internal(format!("generated code failed in an unknown way: {record:?}")))
}

/// `None` for a record that generated code does not write.
fn told(
    program: &Program,
    record: &[i64],
    statement: Option<SiteId>,
    shape: impl Fn(ArrayId) -> Vec<usize>,
) -> Option<Error> {
    let number = |k: usize| usize::try_from(*record.get(k)?).ok();
    let (kind, site, what) = (*record.first()?, entry(&program.sites, *record.get(1)?)?, number(2)?);
    let numbers = |n: usize| record.get(3..n.checked_add(3)?);
    let extents = |n: usize| Some(numbers(n)?.iter().map(|e| *e as usize).collect::<Vec<_>>());
    let array = |k: usize| entry(&program.arrays, *record.get(k)?);
    let at = program.sites[site];
    let op = at.to_string();
    Some(match kind {
        PANIC => Error::Internal(format!("a panic in {at}")),
        SHORT => Error::Internal(format!("the fault record is too short for a failure of kind {what} in {at}")),
        DIVISION => Error::DivisionByZero { op: DIVISIONS.get(what)?, within: format!(" in {op}") },
        READ | TARGET => {
            // A read that is part of the statement itself, such as that of `backpermute`, has the statement's site.
            let is_inner = kind == READ && at.at.is_none() && Some(site) != statement;
            let op = if is_inner { format!("`{}` in {}", at.name, program.sites[statement?]) } else { op };
            let array = array(2)?;
            let index = numbers(program.arrays[array].rank)?;
            let error = at.out_of_bounds(op, index, &shape(array));
            if at.proved { scalar_evaluation::failed_proof(&error) } else { error }
        }
        NEGATIVE => Error::Shape {
            op,
            expected: "extents that are not negative".into(),
            found: format!("{:?}", numbers(what)?),
        },
        MEMORY => Error::Memory { op, shape: extents(what)? },
        // The last extent is that of the rows: 0.
        EMPTY => scalar_evaluation::empty_rows(program, site, &extents(what.checked_sub(1)?)?),
        RESHAPE => {
            let (new, old) = (array(3)?, array(2)?);
            scalar_evaluation::other_size(program, site, &shape(new), &shape(old))
        }
        ROWS => {
            let both = extents(what.checked_mul(2)?)?;
            let (before, found) = both.split_at(what);
            Error::other_row(op, before, found)
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
    use accel_fusion::kernel::{ArrayInfo, Site, index_vec};

    #[test]
    fn records_of_nothing_that_there_is() {
        let sites = ["map", "index"].map(|name| Site { name, at: None, proved: false, fixed: 0 }).into_iter().collect();
        let program =
            Program { arrays: index_vec![ArrayInfo { rank: 2, columns: vec![] }], sites, ..Program::default() };
        let error = |record: &[i64]| error(&program, record, Some(SiteId::new(0)), |_| vec![3, 4]).to_string();
        assert_eq!(error(&[READ, 1, 0, 5, 6]), "`index` in `map`: index [5, 6] is outside the shape [3, 4]");
        assert_eq!(error(&[READ, 0, 0, 5, 6]), "`map`: index [5, 6] is outside the shape [3, 4]");
        let far = i64::MAX;
        for kind in [READ, TARGET, DIVISION, NEGATIVE, MEMORY, EMPTY, RESHAPE, STRIP, AGREE, ROWS, WAY, 99, -1] {
            let records: [&[i64]; 5] =
                [&[], &[kind], &[kind, far, 0, 0, 0], &[kind, 0, far, 0, 0], &[kind, -1, -1, 0, 0]];
            records.iter().for_each(|r| assert!(error(r).contains("in an unknown way"), "{r:?}"));
        }
        assert!(error(&[READ, 0, 0, 5]).contains("in an unknown way"), "an index that is too short");
    }
}
