//! Colours of columns or rows: those of one colour have no entry in common, so that one product determines all their entries.
//!
//! This is the method of Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices" (1974). Whether columns or rows need
//! fewer colours is decided by trying: a row with `k` entries needs `k` colours of columns, so the way with the shorter rows is tried first,
//! and the other one only if it may need fewer.

use super::pattern::{SparsePattern, filled};
use accel_core::error::Result;

/// The colours of the columns of a matrix, or of its rows.
#[derive(Debug)]
pub struct Colouring {
    pub of_rows: bool,
    pub colours: Vec<usize>,
    pub count: usize,
}

impl Colouring {
    /// # Errors
    /// `Error::Memory` if there are too many columns.
    pub fn of(pattern: &SparsePattern) -> Result<Colouring> {
        let transposed = pattern.transposed()?;
        let rows_first = transposed.longest_row() < pattern.longest_row();
        let way = |of_rows: bool| {
            let colours = if of_rows { greedy(&transposed, pattern)? } else { greedy(pattern, &transposed)? };
            Ok(Colouring { of_rows, count: colours.iter().max().map_or(0, |last| last + 1), colours })
        };
        let first = way(rows_first)?;
        let least = if rows_first { pattern.longest_row() } else { transposed.longest_row() };
        if least >= first.count {
            return Ok(first);
        }
        let second = way(!rows_first)?;
        Ok(if second.count < first.count { second } else { first })
    }
}

impl Colouring {
    /// The colours of the components of some arrays, if all elements have the same ones: those of each array that has `widths[k]` numbers in
    /// an element. The numbers of elements follow from the colours.
    pub fn by_component(&self, widths: &[usize]) -> Option<Vec<usize>> {
        let (mut rest, mut found) = (&self.colours[..], vec![]);
        for width in widths.iter().filter(|w| **w > 0) {
            let element = rest.get(..*width)?;
            while let Some(others) = rest.strip_prefix(element) {
                rest = others;
            }
            found.extend_from_slice(element);
        }
        rest.is_empty().then_some(found)
    }
}

/// Gives each column the first colour that no column has with which it shares a row.
fn greedy(pattern: &SparsePattern, transposed: &SparsePattern) -> Result<Vec<usize>> {
    let mut colours = filled(usize::MAX, pattern.columns())?;
    // For each colour, the last column that cannot have it.
    let mut excluded_for = vec![];
    for column in 0..pattern.columns() {
        for row in transposed.row(column) {
            for neighbour in pattern.row(*row) {
                if let Some(excluded) = excluded_for.get_mut(colours[*neighbour]) {
                    *excluded = column;
                }
            }
        }
        let free = excluded_for.iter().position(|other| *other != column).unwrap_or(excluded_for.len());
        if free == excluded_for.len() {
            excluded_for.push(usize::MAX);
        }
        colours[column] = free;
    }
    Ok(colours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(columns: usize, rows: &[&[usize]]) -> SparsePattern {
        let starts = (0..=rows.len()).map(|k| rows[..k].iter().map(|r| r.len()).sum()).collect();
        SparsePattern::new(columns, starts, rows.concat()).unwrap()
    }

    /// No two columns (rows) of one colour have entries in one row (column).
    fn is_right(pattern: &SparsePattern) -> Colouring {
        let found = Colouring::of(pattern).unwrap();
        let lines = if found.of_rows { pattern.transposed().unwrap() } else { pattern.clone() };
        for line in 0..lines.rows() {
            let mut colours: Vec<usize> = lines.row(line).iter().map(|k| found.colours[*k]).collect();
            colours.sort_unstable();
            assert!(colours.is_sorted_by(|a, b| a < b), "line {line} of {pattern:?}");
        }
        found
    }

    #[test]
    fn few_colours() {
        let tridiagonal: Vec<Vec<usize>> =
            (0..9usize).map(|k| (k.saturating_sub(1)..(k + 2).min(9)).collect()).collect();
        let rows: Vec<&[usize]> = tridiagonal.iter().map(|r| &**r).collect();
        assert_eq!(is_right(&pattern(9, &rows)).count, 3);
        // One full row: as many colours of columns as columns, but two of rows.
        let arrow = is_right(&pattern(5, &[&[0, 1, 2, 3, 4], &[1], &[2], &[3], &[4]]));
        assert_eq!((arrow.of_rows, arrow.count), (true, 2));
        let column = is_right(&pattern(3, &[&[0], &[0, 1], &[0, 2], &[0]]));
        assert_eq!((column.of_rows, column.count), (false, 2));
        assert_eq!(is_right(&pattern(0, &[])).count, 0);
        assert_eq!(is_right(&pattern(4, &[&[], &[]])).count, 1);
    }
}
