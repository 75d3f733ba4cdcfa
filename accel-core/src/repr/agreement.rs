//! Agreement: which extents of two shapes must be equal (see the glossary of the book: agreement).

use crate::error::{Error, Result};
use std::fmt;

/// What an operation requires of the shapes of two arrays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Agreement {
    /// All extents are equal: the operation combines elements at the same index.
    All,
    /// All extents but the innermost ones are equal: the operation concatenates rows.
    Outer,
    /// The innermost extent of the first shape equals the outermost extent of the second: the operation multiplies rows
    /// by columns.
    Inner,
    /// The only extent of the first shape, the sum of the lengths of segments, equals the innermost extent of the second:
    /// the segments fill its rows. If a length is negative, the first shape contains it in place of the sum, which is
    /// `i64::MAX` if it is larger.
    Segments,
    /// The outermost extents are equal: the operation takes one row of each array at a time.
    Rows,
}

impl Agreement {
    /// The names in printed programs.
    pub const ALL: [Agreement; 5] =
        [Agreement::All, Agreement::Outer, Agreement::Inner, Agreement::Segments, Agreement::Rows];

    /// The name in printed programs.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::All => "all",
            Agreement::Outer => "outer",
            Agreement::Inner => "inner",
            Agreement::Segments => "segments",
            Agreement::Rows => "rows",
        }
    }

    /// The pairs of dimensions, outermost first, that must have equal extents; `None` if the agreement is not defined
    /// for these ranks.
    pub fn pairs(self, left: usize, right: usize) -> Option<Vec<(usize, usize)>> {
        let same = |n: usize| (0..n).map(|dim| (dim, dim)).collect();
        match self {
            Agreement::All => (left == right).then(|| same(left)),
            Agreement::Outer => (left == right && left > 0).then(|| same(left - 1)),
            Agreement::Inner => (left > 0 && right > 0).then(|| vec![(left - 1, 0)]),
            Agreement::Segments => (left == 1 && right > 0).then(|| vec![(0, right - 1)]),
            Agreement::Rows => (left > 0 && right > 0).then(|| vec![(0, 0)]),
        }
    }

    /// Checks the extents of two shapes for the operation `op`.
    ///
    /// # Errors
    /// `Error::Shape` with both shapes, if they do not agree.
    pub fn check(self, op: impl FnOnce() -> String, left: &[i64], right: &[i64]) -> Result<()> {
        let pairs = self.pairs(left.len(), right.len());
        if pairs.is_some_and(|pairs| pairs.iter().all(|(i, j)| left[*i] == right[*j])) {
            return Ok(());
        }
        Err(self.violated(op(), left, right))
    }

    /// The error for two shapes that do not agree.
    pub fn violated(self, op: String, left: &[i64], right: &[i64]) -> Error {
        if let (Agreement::Segments, [total]) = (self, left) {
            let expected = "segments that fill the rows".into();
            let found = match *total {
                i64::MAX => {
                    format!("segments with more elements together than any array has, in rows of the shape {right:?}")
                }
                0.. => format!("segments with {total} elements together, in rows of the shape {right:?}"),
                _ => format!("a segment of length {total}"),
            };
            return Error::Shape { op, expected, found };
        }
        let expected = format!("shapes {}", self.pattern(left.len(), right.len()));
        Error::Shape { op, expected, found: format!("{left:?} and {right:?}") }
    }

    /// Both shapes, with a letter for every extent: `[n, m] and [m, p]`.
    fn pattern(self, left: usize, right: usize) -> String {
        let pairs = self.pairs(left, right).unwrap_or_default();
        let letter = |k: usize| "nmpqrstuvw".chars().nth(k).map_or_else(|| format!("x{k}"), String::from);
        let first: Vec<String> = (0..left).map(letter).collect();
        let mut next = left..;
        let second = (0..right).map(|j| match pairs.iter().find(|(_, other)| *other == j) {
            Some((i, _)) => first[*i].clone(),
            None => next.next().map(letter).unwrap_or_default(),
        });
        format!("[{}] and [{}]", first.join(", "), second.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(agreement: Agreement, left: &[i64], right: &[i64]) -> String {
        agreement.check(|| "`f`".into(), left, right).map_or_else(|e| e.to_string(), |()| "agree".into())
    }

    #[test]
    fn errors_name_both_shapes() {
        assert_eq!(text(Agreement::All, &[2], &[3]), "`f`: expected shapes [n] and [n], found [2] and [3]");
        let product = "`f`: expected shapes [n, m] and [m, p], found [2, 3] and [4, 3]";
        assert_eq!(text(Agreement::Inner, &[2, 3], &[4, 3]), product);
        assert_eq!(text(Agreement::Inner, &[2, 3], &[4]), "`f`: expected shapes [n, m] and [m], found [2, 3] and [4]");
        let rows = "`f`: expected shapes [n, m, p] and [n, m, q], found [2, 3, 1] and [2, 4, 1]";
        assert_eq!(text(Agreement::Outer, &[2, 3, 1], &[2, 4, 1]), rows);
        let first = "`f`: expected shapes [n, m] and [n, p, q], found [2, 3] and [4, 3, 3]";
        assert_eq!(text(Agreement::Rows, &[2, 3], &[4, 3, 3]), first);
    }

    #[test]
    fn errors_tell_what_is_wrong_with_segments() {
        let few = "`f`: expected segments that fill the rows, found segments with 3 elements together, in rows of the shape [2, 4]";
        assert_eq!(text(Agreement::Segments, &[3], &[2, 4]), few);
        let negative = "`f`: expected segments that fill the rows, found a segment of length -1";
        assert_eq!(text(Agreement::Segments, &[-1], &[4]), negative);
        assert_eq!(text(Agreement::Segments, &[4], &[2, 4]), "agree");
    }

    #[test]
    fn shapes_that_agree() {
        assert_eq!(text(Agreement::All, &[], &[]), "agree");
        assert_eq!(text(Agreement::All, &[2, 0], &[2, 0]), "agree");
        assert_eq!(text(Agreement::Outer, &[5], &[0]), "agree");
        assert_eq!(text(Agreement::Outer, &[2, 5], &[2, 1]), "agree");
        assert_eq!(text(Agreement::Inner, &[2, 3], &[3, 7]), "agree");
        assert_eq!(text(Agreement::Rows, &[2, 3], &[2]), "agree");
    }

    #[test]
    fn every_extent_that_has_to_be_equal_is_compared() {
        for rank in 1..5 {
            for dim in 0..rank {
                let (left, mut right) = (vec![2; rank], vec![2; rank]);
                right[dim] = 3;
                assert!(text(Agreement::All, &left, &right).contains("expected shapes"));
                assert_eq!(text(Agreement::Outer, &left, &right) == "agree", dim + 1 == rank);
                assert_eq!(text(Agreement::Inner, &left, &right) == "agree", dim > 0);
            }
        }
    }
}
