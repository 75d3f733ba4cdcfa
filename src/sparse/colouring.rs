//! Colours of columns or rows: those of one colour have no entry in common, so that one product determines all their entries.
//!
//! This is the method of Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices" (1974). Whether columns or rows need
//! fewer colours is decided by trying: a row with `k` entries needs `k` colours of columns, so the way with the shorter rows is tried first,
//! and the other one only if it may need fewer.
//!
//! NOTE [Colours of symmetric matrices]: an entry (i, j) of a symmetric matrix can be found in two products: that of the colour of j, in row i, and
//! that of the colour of i, in row j. One of them is enough if the rows and columns of any two colours form stars, that is, if no path of
//! four neighbours has two colours only (Coleman and Moré, "Estimation of sparse Hessian matrices and graph coloring problems", 1984). So
//! the colour of a new column is none of
//!
//! - the colours of its neighbours;
//! - the colours of neighbours of two neighbours that have the same colour: it would be in the middle of such a path;
//! - the colour of a neighbour's neighbour that has another neighbour of the first neighbour's colour: it would be at the end.
//!
//! A matrix with some full rows and columns needs a colour for each of these, and few more.

use super::pattern::{SparsePattern, filled};
use accel_core::error::Result;
use std::collections::{BTreeMap, BTreeSet};

/// The colours of the columns of a matrix, or of its rows.
#[derive(Debug)]
pub struct Colouring {
    pub of_rows: bool,
    pub colours: Vec<usize>,
    pub count: usize,
    /// For a symmetric matrix and each of its entries, whether it is found in the other one of two places: NOTE [Colours of symmetric matrices].
    pub by_other: Vec<bool>,
}

impl Colouring {
    /// # Errors
    /// `Error::Memory` if there are too many columns.
    pub fn of(pattern: &SparsePattern) -> Result<Colouring> {
        let transposed = pattern.transposed()?;
        let rows_first = transposed.longest_row() < pattern.longest_row();
        let way = |of_rows: bool| {
            let colours = if of_rows { greedy(&transposed, pattern)? } else { greedy(pattern, &transposed)? };
            Ok(Colouring { of_rows, count: number_of(&colours), colours, by_other: vec![] })
        };
        let first = way(rows_first)?;
        let least = if rows_first { pattern.longest_row() } else { transposed.longest_row() };
        if least >= first.count {
            return Ok(first);
        }
        let second = way(!rows_first)?;
        Ok(if second.count < first.count { second } else { first })
    }

    /// For a symmetric matrix: NOTE [Colours of symmetric matrices].
    ///
    /// # Errors
    /// `Error::Memory` if there are too many columns.
    pub fn symmetric(pattern: &SparsePattern) -> Result<Colouring> {
        let Stars { colours, neighbours, .. } = Stars::of(pattern)?;
        let is_alone = |row: usize, column: &usize| row == *column || neighbours[row][&colours[*column]] == 1;
        let by_other = |row: usize| pattern.row(row).iter().map(move |column| !is_alone(row, column));
        let by_other = (0..pattern.rows()).flat_map(by_other).collect();
        Ok(Colouring { of_rows: false, count: number_of(&colours), colours, by_other })
    }
}

fn number_of(colours: &[usize]) -> usize {
    colours.iter().max().map_or(0, |last| last + 1)
}

/// A colouring of a symmetric matrix: NOTE [Colours of symmetric matrices].
struct Stars {
    colours: Vec<usize>,
    /// For each column, how many of its neighbours have a colour.
    neighbours: Vec<BTreeMap<usize, usize>>,
    /// For each column, the colours of those neighbours that have another neighbour of its own colour.
    centres: Vec<BTreeSet<usize>>,
}

impl Stars {
    fn of(pattern: &SparsePattern) -> Result<Stars> {
        let n = pattern.columns();
        let colours = filled(usize::MAX, n)?;
        let mut stars = Stars { colours, neighbours: vec![BTreeMap::new(); n], centres: vec![BTreeSet::new(); n] };
        for v in 0..n {
            stars.add(v, &|v: usize| pattern.row(v).iter().copied().filter(move |w| *w != v));
        }
        Ok(stars)
    }

    /// Gives column `v` the first colour that it may have.
    fn add<I: Iterator<Item = usize>>(&mut self, v: usize, of: &impl Fn(usize) -> I) {
        let Stars { colours, neighbours, centres } = self;
        let is_twice = |of: &BTreeMap<usize, usize>, colour: usize| of.get(&colour).is_some_and(|n| *n > 1);
        let mut forbidden: BTreeSet<usize> = neighbours[v].keys().copied().collect();
        for w in of(v).filter(|w| colours[*w] != usize::MAX) {
            forbidden.extend(&centres[w]);
            if is_twice(&neighbours[v], colours[w]) {
                forbidden.extend(neighbours[w].keys());
            }
        }
        let own = (0..).find(|colour| !forbidden.contains(colour)).unwrap_or_default();
        colours[v] = own;
        for w in of(v) {
            // It is a centre of neighbours of equal colours.
            if is_twice(&neighbours[v], colours[w]) {
                centres[w].insert(own);
            }
            let n = neighbours[w].entry(own).or_insert(0);
            *n += 1;
            // Its neighbour is one.
            let leaves = match *n {
                1 => vec![],
                2 => of(w).filter(|x| colours[*x] == own).collect(),
                _ => vec![v],
            };
            if colours[w] != usize::MAX {
                leaves.into_iter().for_each(|leaf| _ = centres[leaf].insert(colours[w]));
            }
        }
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

    /// Each entry of a symmetric matrix is alone in the product in which it is found.
    #[track_caller]
    fn is_right_symmetric(n: usize, entries: impl Fn(usize, usize) -> bool) -> usize {
        let rows: Vec<Vec<usize>> =
            (0..n).map(|i| (0..n).filter(|j| entries(i, *j) || entries(*j, i)).collect()).collect();
        let pattern = pattern(n, &rows.iter().map(|r| &**r).collect::<Vec<_>>());
        let Colouring { colours, count, by_other, .. } = Colouring::symmetric(&pattern).unwrap();
        let all = (0..n).flat_map(|i| rows[i].iter().map(move |j| (i, *j)));
        for ((i, j), other) in all.zip(&by_other) {
            let (row, column) = if *other { (j, i) } else { (i, j) };
            let same = rows[row].iter().filter(|k| colours[**k] == colours[column]).count();
            assert_eq!(same, 1, "({i}, {j}) of {rows:?}: {colours:?}");
        }
        assert_eq!(by_other.len(), pattern.indices().len());
        count
    }

    #[test]
    fn few_colours_of_symmetric_matrices() {
        // Columns alone, bands, a grid, full rows and columns first and last, and both.
        assert_eq!(is_right_symmetric(6, |i, j| i == j), 1);
        assert_eq!(is_right_symmetric(0, |_, _| true), 0);
        assert_eq!(is_right_symmetric(20, |i, j| i.abs_diff(j) < 2), 3);
        assert_eq!(is_right_symmetric(20, |i, j| i.abs_diff(j) < 3), 5);
        assert_eq!(is_right_symmetric(5, |_, _| true), 5);
        assert_eq!(is_right_symmetric(50, |i, j| i == j || i == 0), 2);
        assert_eq!(is_right_symmetric(50, |i, j| i == j || j == 49), 2);
        assert!(is_right_symmetric(50, |i, j| i.abs_diff(j) < 2 || i < 2) <= 5);
        assert!(is_right_symmetric(100, |i, j| i == j || i + 10 == j || i + 1 == j && j % 10 > 0) <= 8);
        for seed in 0..200usize {
            let chance = 2 + seed % 7;
            let mixed =
                |i: usize, j: usize| ((i * 7919 + j * 104_729 + seed * 1_299_709) % 1009).is_multiple_of(chance);
            is_right_symmetric(1 + seed % 17, mixed);
        }
    }
}
