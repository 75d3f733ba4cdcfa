//! Names and places in generated code.

use accel_core::repr::ScalarType;
use accel_fusion::kernel::ArrayId;

/// The names `i0`, `i1`, … of an index.
pub fn index(rank: usize) -> Vec<String> {
    (0..rank).map(|k| format!("i{k}")).collect()
}

/// Names for the columns of an element.
pub fn names(prefix: &str, types: &[ScalarType]) -> Vec<String> {
    (0..types.len()).map(|c| format!("{prefix}{c}")).collect()
}

/// The elements at a position: `a3_0[p]`, …
pub fn elements(array: ArrayId, columns: usize, position: &str) -> Vec<String> {
    (0..columns).map(|c| element(array, c, position)).collect()
}

/// A column of the element of an array at a position.
pub fn element(array: ArrayId, column: usize, position: &str) -> String {
    format!("a{array}_{column}[{position}]")
}

/// The index of an element of a row.
pub fn row_index(outer: usize, k: &str) -> Vec<String> {
    index(outer).into_iter().chain([k.to_string()]).collect()
}

/// The arguments of a scan's operator: the accumulated value comes first, in a reverse scan last.
pub fn in_order(reverse: bool, accumulated: &[String], element: &[String]) -> Vec<String> {
    if reverse { [element, accumulated].concat() } else { [accumulated, element].concat() }
}

/// Elements of buffers: `l0[i]`, …
pub fn names_at(prefix: &str, types: &[ScalarType], i: &str) -> Vec<String> {
    (0..types.len()).map(|c| format!("{prefix}{c}[{i}]")).collect()
}

/// The condition that an index is out of bounds.
pub fn outside(array: ArrayId, index: &[String]) -> String {
    let parts: Vec<_> = index.iter().enumerate().map(|(k, i)| format!("(u64){i} >= (u64)a{array}_n{k}")).collect();
    parts.join(" || ")
}

/// The row-major position of an index of an array.
pub fn position(array: ArrayId, index: &[String]) -> String {
    let Some((first, rest)) = index.split_first() else { return "0".into() };
    rest.iter().enumerate().fold(first.clone(), |p, (k, i)| format!("({p}) * a{array}_n{} + {i}", k + 1))
}

/// The row-major position of an index without its first component.
pub fn position_in_strip(array: ArrayId, index: &[String]) -> String {
    let inner = index.get(1..).unwrap_or_default();
    let Some((first, rest)) = inner.split_first() else { return "0".into() };
    rest.iter().enumerate().fold(first.clone(), |p, (k, i)| format!("({p}) * a{array}_n{} + {i}", k + 2))
}
