//! Patterns of sparse matrices.

use accel_ad::{Differentiable, OneNumber, grad};
use accel_core::afun::Afun;
use accel_core::ast::Program;
use accel_core::dependence::dependences;
use accel_core::error::{Error, Result};
use accel_core::repr::MAX_SIZE;
use accel_core::types::Inputs;

/// Where a sparse matrix has entries: in compressed rows (CSR). [`sparse_jacobian`](crate::sparse_jacobian) needs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SparsePattern {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<usize>,
}

impl SparsePattern {
    /// A matrix with this number of columns, which has a row less than `starts` has numbers: row `i` has entries in the columns
    /// `indices[starts[i]..starts[i + 1]]`, in ascending order.
    ///
    /// # Errors
    /// `Error::Shape` if `starts` does not begin with 0, does not ascend or does not end with the number of indices, or if the indices of a
    /// row do not ascend or are no columns. Neither may there be more columns than an array has numbers.
    pub fn new(columns: usize, starts: Vec<usize>, indices: Vec<usize>) -> Result<SparsePattern> {
        let error =
            |expected: String, found: String| Error::Shape { op: "`SparsePattern::new`".into(), expected, found };
        if columns > MAX_SIZE {
            return Err(error(format!("at most {MAX_SIZE} columns"), columns.to_string()));
        }
        let ends = (starts.first().copied(), starts.last().copied());
        if ends != (Some(0), Some(indices.len())) {
            return Err(error(format!("starts from 0 to {}", indices.len()), format!("{ends:?}")));
        }
        for (row, bounds) in starts.windows(2).enumerate() {
            let Some(entries) = indices.get(bounds[0]..bounds[1]) else {
                return Err(error(format!("starts that ascend up to {}", indices.len()), format!("{bounds:?}")));
            };
            if !entries.is_sorted_by(|a, b| a < b) || entries.last().is_some_and(|last| *last >= columns) {
                let expected = format!("ascending indices below {columns} in row {row}");
                return Err(error(expected, format!("{entries:?}")));
            }
        }
        Ok(SparsePattern { columns, starts, indices })
    }

    /// The pattern of a program's Jacobian, by the whole argument or by its parts that [`by`](accel_core::afun::Afun::by) has chosen.
    ///
    /// Sets of numbers go through the program instead of values. The pattern contains every entry that can differ from zero at *any* values
    /// of the parts: branches and reads that depend on them go all ways. It holds for the shapes in `x`, and for
    /// the integers, booleans and other arguments in it, such as the indices of a graph; values of the parts in `x` do not count. Factors
    /// that happen to be zero do not make an entry disappear.
    ///
    /// A row and a column is a floating-point number of the result and of the parts. They are counted array by array, in row-major
    /// order of the elements, and component by component where an element is a tuple.
    ///
    /// This is a run of the reference interpreter with some more work for each step: much slower than a compiled run.
    ///
    /// ```
    /// use accel::SparsePattern;
    /// use accel::prelude::*;
    ///
    /// # fn main() -> Result<(), Error> {
    /// // Each element and the next one.
    /// let steps = afun(|x: Acc<Vector<f64>>| generate(x.len() - 1, |i| (x.at(i + 1) - x.at(i)).exp()));
    /// let pattern = SparsePattern::of(&steps, &Array::vector(vec![0.0; 4]))?;
    /// assert_eq!(pattern.indices(), [0, 1, 1, 2, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Error::Shape` if a shape in the program depends on values of the parts; then the pattern must be given. The errors of the program.
    pub fn of<D: Differentiable>(prog: D, x: impl Inputs<D::Args>) -> Result<SparsePattern> {
        let (prog, by) = prog.differentiable()?;
        let found = dependences(prog.program()?, by, &x.to_tuple())?;
        let mut starts = vec![0];
        starts.extend(found.rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let indices = found.rows.into_iter().flatten().map(|column| column as usize).collect();
        Ok(SparsePattern { columns: found.columns, starts, indices })
    }

    /// The pattern of the Hessian of a program whose result is one number, by the whole argument or by the parts of it that
    /// [`by`](accel_core::afun::Afun::by) has chosen: [`of`](Self::of) its gradient. [`sparse_hessian`](crate::sparse_hessian) needs it.
    ///
    /// # Errors
    /// As [`of`](Self::of), and those of the gradient.
    pub fn of_hessian<D: Differentiable<Result: OneNumber>>(prog: D, x: impl Inputs<D::Args>) -> Result<SparsePattern> {
        SparsePattern::of(Gradient::of(prog)?, x)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Where the entries of each row begin, and the number of all entries.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The column of each entry, row by row.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The columns in which a row has entries.
    pub fn row(&self, row: usize) -> &[usize] {
        &self.indices[self.starts[row]..self.starts[row + 1]]
    }

    /// The pattern of the transposed matrix.
    ///
    /// # Errors
    /// `Error::Memory` if there are too many columns.
    pub(crate) fn transposed(&self) -> Result<SparsePattern> {
        let mut starts = filled(0, self.columns + 1)?;
        self.indices.iter().for_each(|column| starts[column + 1] += 1);
        (0..self.columns).for_each(|column| starts[column + 1] += starts[column]);
        let (mut next, mut indices) = (starts.clone(), vec![0; self.indices.len()]);
        for row in 0..self.rows() {
            for column in self.row(row) {
                indices[next[*column]] = row;
                next[*column] += 1;
            }
        }
        Ok(SparsePattern { columns: self.rows(), starts, indices })
    }

    /// The largest number of entries in a row.
    pub(crate) fn longest_row(&self) -> usize {
        self.starts.windows(2).map(|s| s[1] - s[0]).max().unwrap_or(0)
    }
}

/// The gradient of a program, which is differentiated by the same parts of the argument again.
pub(crate) struct Gradient<D: Differentiable> {
    program: Afun<D::Args, D::Parts>,
    by: Option<Program>,
}

impl<D: Differentiable<Result: OneNumber>> Gradient<D> {
    #[track_caller]
    pub fn of(prog: D) -> Result<Self> {
        let by = prog.differentiable()?.1.cloned();
        Ok(Gradient { program: grad(prog), by })
    }
}

impl<D: Differentiable> Differentiable for Gradient<D> {
    type Args = D::Args;
    type Parts = D::Parts;
    type Result = D::Parts;
    fn differentiable(&self) -> Result<(&Afun<D::Args, D::Parts>, Option<&Program>)> {
        Ok((&self.program, self.by.as_ref()))
    }
}

/// `n` times the number `x`, for each column of a pattern, of which a user may have written any number.
///
/// # Errors
/// `Error::Memory` if there is not enough memory.
pub(crate) fn filled(x: usize, n: usize) -> Result<Vec<usize>> {
    let mut all = vec![];
    let no_memory = |_| Error::Memory { op: "the columns of a sparse pattern".into(), shape: vec![n] };
    all.try_reserve_exact(n).map_err(no_memory)?;
    all.resize(n, x);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_must_be_one() {
        let wrong = |columns, starts: &[usize], indices: &[usize]| {
            SparsePattern::new(columns, starts.to_vec(), indices.to_vec()).unwrap_err().to_string()
        };
        assert!(wrong(2, &[], &[]).contains("starts from 0 to 0"));
        assert!(wrong(2, &[0, 1], &[0, 1]).contains("starts from 0 to 2"));
        assert!(wrong(2, &[0, 3, 2], &[0, 1]).contains("ascend up to 2"));
        assert!(wrong(2, &[0, 2], &[1, 0]).contains("row 0"));
        assert!(wrong(usize::MAX, &[0, 1], &[0]).contains("columns, found 18446744073709551615"));
        assert!(wrong(2, &[0, 0, 1], &[2]).contains("below 2 in row 1"));
        let pattern = SparsePattern::new(3, vec![0, 2, 2, 3], vec![0, 2, 1]).unwrap();
        assert_eq!((pattern.rows(), pattern.columns(), pattern.row(0)), (3, 3, &[0, 2][..]));
        assert_eq!(pattern.transposed().unwrap().starts(), [0, 1, 2, 3]);
        assert_eq!(pattern.transposed().unwrap().indices(), [0, 2, 0]);
        assert_eq!(pattern.transposed().unwrap().transposed().unwrap(), pattern);
    }
}
