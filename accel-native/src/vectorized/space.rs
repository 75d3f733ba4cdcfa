//! Index spaces: their parts for batches and for threads.

use super::machine::{Context, Machine, width};
use accel_core::repr::{Column, ColumnPart, ScalarType};
use accel_fusion::kernel::{ScalarFn, walk};
use rayon::prelude::*;
use std::ops::Range;

/// From this number on, the indices of a row are a batch of their own: then the index is a ramp, and elements are read
/// one after the other.
const LONG_ROW: usize = 48;

/// Below this number of instructions, counted for each lane, one thread does all.
const SHARED: usize = 1 << 16;

/// Cuts consecutive positions within these extents into batches of at most `width`. Returns the first position and the
/// number of positions of each.
pub fn batches(extents: &[usize], range: Range<usize>, width: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
    let row = extents.last().copied().filter(|n| *n >= LONG_ROW && extents.len() > 1);
    let mut at = range.start;
    std::iter::from_fn(move || {
        let to_the_end_of_the_row = row.map_or(usize::MAX, |row| row - at % row);
        let n = width.min(range.end - at).min(to_the_end_of_the_row);
        at += n;
        (n > 0).then_some((at - n, n))
    })
}

/// Memory for columns of `n` elements.
pub fn zeros(types: &[ScalarType], n: usize) -> Option<Vec<Column>> {
    types.iter().map(|t| Column::zeros(*t, n)).collect()
}

/// Computes columns of `n` elements, in parts that threads share: `part` gets the range of the positions and the memory
/// for them. `work` is the number of instructions for each element, and the parts are multiples of `width`.
pub fn in_parts(
    columns: &mut [Column],
    n: usize,
    work: usize,
    width: usize,
    part: impl Fn(Range<usize>, &mut [ColumnPart]) -> Option<()> + Sync,
) -> Option<()> {
    let threads = if n > width && n.saturating_mul(work) >= SHARED { crate::threads::count() } else { 1 };
    let is_shared = threads > 1;
    let len = if is_shared { n.div_ceil(4 * threads).next_multiple_of(width) } else { n };
    let mut parts: Vec<Vec<ColumnPart>> = (0..n.div_ceil(len.max(1))).map(|_| vec![]).collect();
    for column in columns {
        parts.iter_mut().zip(column.parts_mut(len)).for_each(|(part, memory)| part.push(memory));
    }
    let one = |(k, memory): (usize, &mut Vec<ColumnPart>)| part(k * len..n.min((k + 1) * len), memory);
    if is_shared {
        parts.par_iter_mut().enumerate().map(one).collect()
    } else {
        parts.iter_mut().enumerate().try_for_each(one)
    }
}

/// The number of instructions of a scalar function, where loops count once.
pub fn work(code: &ScalarFn) -> usize {
    walk(&code.instrs).count().max(1)
}

/// Computes the results of a scalar function for all indices within the extents, as columns.
pub fn tabulate(context: Context, code: &ScalarFn, extents: &[usize]) -> Option<Vec<Column>> {
    let n = extents.iter().product();
    let types: Vec<ScalarType> = code.results.iter().map(|r| code.types[*r]).collect();
    let mut columns = zeros(&types, n)?;
    let width = width(code);
    in_parts(&mut columns, n, work(code), width, |range, parts| {
        let mut machine = Machine::new(context, code, 0);
        for (first, n) in batches(extents, range.clone(), width) {
            machine.set_index(extents, first, n)?;
            machine.batch()?;
            machine.each_result(|k, value| value.store(n, parts.get_mut(k)?, first - range.start))?;
        }
        Some(())
    })?;
    Some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_all_positions() {
        for extents in [&[][..], &[1], &[5000], &[100, 7], &[7, 100], &[3, 2, 2000]] {
            let n = extents.iter().product();
            for (range, width) in [(0..n, 64), (n / 3..n, 100), (0..n / 2, 1)] {
                let mut at = range.start;
                for (first, len) in batches(extents, range.clone(), width) {
                    assert!(first == at && len > 0 && len <= width);
                    // A batch of a long row ends with the row.
                    let row = extents.last().copied().filter(|row| *row >= LONG_ROW && extents.len() > 1);
                    assert!(row.is_none_or(|row| first / row == (first + len - 1) / row));
                    at += len;
                }
                assert_eq!(at, range.end);
            }
        }
    }
}
