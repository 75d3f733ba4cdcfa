//! Prints arrays: extents, then nested brackets, with `…` for the omitted elements of long arrays.

use super::Array;
use crate::repr::{Column, RawArray, Scalar};
use std::fmt::{self, Formatter, Write};

/// A longer dimension is shortened to this many entries at each end.
const EDGE: usize = 5;

impl<Sh, T> fmt::Display for Array<Sh, T> {
    /// `2×3 [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]`, with one row per line. An array without dimensions is printed as its
    /// element. A tuple is printed as the scalars that it consists of.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        show(&self.raw, f)
    }
}

impl<Sh, T> fmt::Debug for Array<Sh, T> {
    /// As `Display`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        show(&self.raw, f)
    }
}

fn show(a: &RawArray, f: &mut Formatter<'_>) -> fmt::Result {
    let extents: Vec<String> = a.extents.iter().map(|n| n.to_string()).collect();
    let head = extents.join("×");
    let indent = if head.is_empty() { 0 } else { head.chars().count() + 1 };
    if indent > 0 {
        write!(f, "{head} ")?;
    }
    rows(a, 0, 0, indent, f)
}

/// Prints the part of the array below dimension `dim` whose first element has the position `start`.
fn rows(a: &RawArray, dim: usize, start: usize, indent: usize, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(n) = a.extents.get(dim).copied() else { return element(&a.columns, start, f) };
    let stride: usize = a.extents[dim + 1..].iter().product();
    let innermost = dim + 1 == a.extents.len();
    let separate = |f: &mut Formatter<'_>| {
        if innermost {
            return f.write_str(", ");
        }
        // A blank line between matrices, two blank lines between blocks of matrices.
        let lines = a.extents.len() - dim - 1;
        f.write_char(',')?;
        (0..lines).try_for_each(|_| f.write_char('\n'))?;
        write!(f, "{:width$}", "", width = indent + dim + 1)
    };
    f.write_char('[')?;
    let mut i = 0;
    while i < n {
        if i > 0 {
            separate(f)?;
        }
        if n > 2 * EDGE + 1 && i == EDGE {
            f.write_char('…')?;
            i = n - EDGE;
            continue;
        }
        rows(a, dim + 1, start + i * stride, indent, f)?;
        i += 1;
    }
    f.write_char(']')
}

fn element(columns: &[Column], i: usize, f: &mut Formatter<'_>) -> fmt::Result {
    if let [column] = columns {
        return column.get(i).map_or(Ok(()), |s| scalar(s, f));
    }
    f.write_char('(')?;
    for (k, column) in columns.iter().enumerate() {
        if k > 0 {
            f.write_str(", ")?;
        }
        column.get(i).map_or(Ok(()), |s| scalar(s, f))?;
    }
    f.write_char(')')
}

/// Prints a scalar with the precision that the caller asks for (`{:.3}`).
fn scalar(s: Scalar, f: &mut Formatter<'_>) -> fmt::Result {
    match s {
        Scalar::Bool(x) => write!(f, "{x}"),
        Scalar::I8(x) => write!(f, "{x}"),
        Scalar::I16(x) => write!(f, "{x}"),
        Scalar::I32(x) => write!(f, "{x}"),
        Scalar::I64(x) => write!(f, "{x}"),
        Scalar::U8(x) => write!(f, "{x}"),
        Scalar::U16(x) => write!(f, "{x}"),
        Scalar::U32(x) => write!(f, "{x}"),
        Scalar::U64(x) => write!(f, "{x}"),
        Scalar::F32(x) => fmt::Debug::fmt(&x, f),
        Scalar::F64(x) => fmt::Debug::fmt(&x, f),
    }
}
