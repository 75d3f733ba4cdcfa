//! Agreement: what an operation requires of two shapes, such as equal extents (see the glossary of the book: agreement).

use super::array::{MAX_EXTENT, checked_size};
use crate::error::{Error, Result};
use std::fmt;

/// What an operation requires of two shapes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Agreement {
    /// All extents are equal: the operation combines elements at the same index.
    All,
    /// All extents but the innermost ones are equal: the operation concatenates rows.
    Outer,
    /// The innermost extent of the first shape equals the outermost extent of the second: the operation multiplies rows
    /// by columns.
    Inner,
    /// As `Inner`, for two shapes of the same rank whose outer extents are equal: the operation multiplies pairs of matrices.
    Matrices,
    /// The innermost two extents of a shape are equal: the operation needs square matrices. Both shapes are this one.
    Square,
    /// The only extent of the first shape, the sum of the lengths of segments, equals the innermost extent of the second:
    /// the segments fill its rows. If a length is negative, the first shape contains it in place of the sum, which is
    /// some number that is no extent if it is larger than any extent.
    Segments,
    /// Both shapes are the same numbers: the second one as a user wrote them, the first one after they are moved to where they may be, so the
    /// error tells the bound.
    Bounds,
    /// The outermost extents are equal: the operation takes one row of each array at a time.
    Rows,
    /// The first shape is one that an array can have. The second one has no dimensions.
    Extents,
    /// The first shape is one that an array can have, and has as many elements as the second one: the operation gives an
    /// array another shape.
    Size,
    /// The first shape is an index within the second one.
    Inside,
    /// The innermost extent of the first shape is not 0, unless there are no rows. The second shape has no dimensions.
    Nonempty,
}

impl Agreement {
    /// The names in printed programs.
    pub const ALL: [Agreement; 12] = [
        Agreement::All,
        Agreement::Bounds,
        Agreement::Outer,
        Agreement::Inner,
        Agreement::Matrices,
        Agreement::Square,
        Agreement::Segments,
        Agreement::Rows,
        Agreement::Extents,
        Agreement::Size,
        Agreement::Inside,
        Agreement::Nonempty,
    ];

    /// The name in printed programs.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::All => "all",
            Agreement::Bounds => "bounds",
            Agreement::Outer => "outer",
            Agreement::Inner => "inner",
            Agreement::Matrices => "matrices",
            Agreement::Square => "square",
            Agreement::Segments => "segments",
            Agreement::Rows => "rows",
            Agreement::Extents => "extents",
            Agreement::Size => "size",
            Agreement::Inside => "inside",
            Agreement::Nonempty => "nonempty",
        }
    }

    /// Whether the agreement is defined for shapes of these ranks.
    pub fn is_defined(self, left: usize, right: usize) -> bool {
        match self {
            Agreement::Extents => right == 0,
            Agreement::Size => true,
            Agreement::Inside => left == right,
            Agreement::Nonempty => left > 0 && right == 0,
            _ => self.pairs(left, right).is_some(),
        }
    }

    /// Whether operations on arrays make this check themselves. It then concerns the shapes of one operation, not of two
    /// arrays that are combined.
    pub fn is_of_one_operation(self) -> bool {
        matches!(self, Agreement::Extents | Agreement::Size | Agreement::Inside | Agreement::Nonempty)
    }

    /// The pairs of dimensions, outermost first, that must have equal extents; `None` if the agreement is not defined
    /// for these ranks, or is not about equal extents.
    pub fn pairs(self, left: usize, right: usize) -> Option<Vec<(usize, usize)>> {
        let same = |n: usize| (0..n).map(|dim| (dim, dim)).collect();
        match self {
            Agreement::All | Agreement::Bounds => (left == right).then(|| same(left)),
            Agreement::Outer => (left == right && left > 0).then(|| same(left - 1)),
            Agreement::Inner => (left > 0 && right > 0).then(|| vec![(left - 1, 0)]),
            Agreement::Matrices => (left == right && left > 1)
                .then(|| (0..left - 2).map(|dim| (dim, dim)).chain([(left - 1, left - 2)]).collect()),
            Agreement::Square => (left == right && left > 1).then(|| vec![(left - 1, left - 2)]),
            Agreement::Segments => (left == 1 && right > 0).then(|| vec![(0, right - 1)]),
            Agreement::Rows => (left > 0 && right > 0).then(|| vec![(0, 0)]),
            Agreement::Extents | Agreement::Size | Agreement::Inside | Agreement::Nonempty => None,
        }
    }

    fn holds(self, left: &[i64], right: &[i64]) -> bool {
        match self {
            Agreement::Extents => size(left).is_some(),
            Agreement::Size => size(left).is_some_and(|n| size(right) == Some(n)),
            Agreement::Inside => left.iter().zip(right).all(|(i, n)| (0..*n).contains(i)),
            Agreement::Nonempty => left.split_last().is_none_or(|(n, outer)| *n != 0 || outer.contains(&0)),
            _ => {
                let pairs = self.pairs(left.len(), right.len());
                pairs.is_some_and(|pairs| pairs.iter().all(|(i, j)| left[*i] == right[*j]))
            }
        }
    }

    /// Checks the extents of two shapes for the operation `op`.
    ///
    /// # Errors
    /// As [`Agreement::violated`], if they do not agree.
    pub fn check(self, op: impl FnOnce() -> String, left: &[i64], right: &[i64]) -> Result<()> {
        if self.holds(left, right) { Ok(()) } else { Err(self.violated(op(), left, right)) }
    }

    /// The error for two shapes that do not agree: `Error::Shape` with what was expected and found, `Error::OutOfBounds`
    /// for an index, or `Error::Memory` for an array that is too large.
    pub fn violated(self, op: String, left: &[i64], right: &[i64]) -> Error {
        match self {
            Agreement::Extents | Agreement::Size if left.iter().any(|n| *n < 0) => {
                let expected = "extents that are not negative".into();
                return Error::Shape { op, expected, found: format!("{left:?}") };
            }
            Agreement::Size if let (Some(new), Some(old)) = (size(left), size(right)) => {
                let expected = format!("a shape of {old} elements, as {right:?} has");
                return Error::Shape { op, expected, found: format!("{left:?}, which has {new}") };
            }
            Agreement::Extents | Agreement::Size => return Error::Memory { op, shape: numbers(left) },
            Agreement::Inside => return Error::OutOfBounds { op, index: left.to_vec(), shape: numbers(right) },
            Agreement::Nonempty => {
                let expected = "a non-empty innermost dimension".into();
                return Error::Shape { op, expected, found: format!("shape {left:?}") };
            }
            Agreement::Square => {
                return Error::Shape { op, expected: "square matrices".into(), found: format!("shape {left:?}") };
            }
            Agreement::Bounds if let Some((bound, n)) = left.iter().zip(right).find(|(bound, n)| bound != n) => {
                let side = if bound > n { "least" } else { "most" };
                let found = if right.len() == 1 { n.to_string() } else { format!("{n} in {right:?}") };
                return Error::Shape { op, expected: format!("at {side} {bound}"), found };
            }
            _ => {}
        }
        if let (Agreement::Segments, [total]) = (self, left) {
            let expected = "segments that fill the rows".into();
            let found = match *total {
                n if usize::try_from(n).is_ok_and(|n| n > MAX_EXTENT) => {
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

fn numbers(extents: &[i64]) -> Vec<usize> {
    extents.iter().map(|n| usize::try_from(*n).unwrap_or_default()).collect()
}

/// The number of elements of an array of this shape; `None` if no array can have it.
fn size(extents: &[i64]) -> Option<usize> {
    let extents = extents.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<Vec<_>>>()?;
    checked_size(&extents)
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
        let pairs = "`f`: expected shapes [n, m, p] and [n, p, q], found [2, 3, 2] and [2, 3, 4]";
        assert_eq!(text(Agreement::Matrices, &[2, 3, 2], &[2, 3, 4]), pairs);
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
    fn errors_of_single_shapes() {
        let negative = "`f`: expected extents that are not negative, found [2, -1]";
        assert_eq!(text(Agreement::Extents, &[2, -1], &[]), negative);
        assert_eq!(text(Agreement::Size, &[2, -1], &[2]), negative);
        let large = Agreement::Extents.check(|| "`f`".into(), &[1 << 40, 1 << 40], &[]);
        assert!(matches!(large, Err(Error::Memory { shape, .. }) if shape == [1 << 40, 1 << 40]));
        let other = "`f`: expected a shape of 3 elements, as [3] has, found [3, 4], which has 12";
        assert_eq!(text(Agreement::Size, &[3, 4], &[3]), other);
        assert_eq!(text(Agreement::Bounds, &[2, 0], &[2, -1]), "`f`: expected at least 0, found -1 in [2, -1]");
        assert_eq!(text(Agreement::Bounds, &[8], &[9]), "`f`: expected at most 8, found 9");
        assert_eq!(text(Agreement::Bounds, &[2, 0], &[2, 0]), "agree");
        assert_eq!(text(Agreement::Inside, &[7, -1], &[8, 2]), "`f`: index [7, -1] is outside the shape [8, 2]");
        assert_eq!(text(Agreement::Square, &[2, 3], &[2, 3]), "`f`: expected square matrices, found shape [2, 3]");
        assert_eq!(text(Agreement::Square, &[2, 3, 3], &[2, 3, 3]), "agree");
        let empty = "`f`: expected a non-empty innermost dimension, found shape [2, 0]";
        assert_eq!(text(Agreement::Nonempty, &[2, 0], &[]), empty);
        assert_eq!(text(Agreement::Extents, &[0, 7], &[]), "agree");
        assert_eq!(text(Agreement::Size, &[4, 3], &[2, 6]), "agree");
        assert_eq!(text(Agreement::Inside, &[1, 0], &[2, 1]), "agree");
        assert_eq!(text(Agreement::Nonempty, &[0, 0], &[]), "agree");
        assert_eq!(text(Agreement::Nonempty, &[2, 1], &[]), "agree");
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
