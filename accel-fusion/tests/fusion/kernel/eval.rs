//! The evaluator: the order of operators, and errors. Programs that backends run too are files of `tests/kernels`.

use super::program;
use accel_core::error::Result;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::evaluate;

fn array(extents: &[usize], columns: Vec<Column>) -> ArrayTuple {
    ArrayTuple::Array(RawArray { extents: extents.into(), columns: columns.into() })
}

fn vector(xs: &[i64]) -> ArrayTuple {
    array(&[xs.len()], vec![xs.to_vec().into()])
}

/// Runs a program with these inputs and this body, which uses sites 0 and 1.
fn try_run(inputs: &str, body: &str, argument: &ArrayTuple) -> Result<Vec<RawArray>> {
    evaluate(&program(&format!("program ({inputs})\nsite 0 = \"outer\"\nsite 1 = \"inner\"\n{{\n{body}\n}}")), argument)
}

/// The extents and columns of the results.
fn run(inputs: &str, body: &str, argument: &ArrayTuple) -> Vec<(Vec<usize>, Vec<Column>)> {
    let results = try_run(inputs, body, argument).unwrap_or_else(|e| panic!("{e}"));
    results.into_iter().map(|a| (a.extents.to_vec(), a.columns.to_vec())).collect()
}

fn ints(extents: &[usize], xs: &[i64]) -> (Vec<usize>, Vec<Column>) {
    (extents.to_vec(), vec![xs.to_vec().into()])
}

const VECTOR: &str = "a0: Array1<i64>";

/// `a1 = op of a0`, where the operator appends digits (10 a + b), so that the result shows the order.
fn rows(head: &str, init: &str) -> String {
    format!(
        "a1: {head} @0
            extents () {{ -> }}
            len () {{ x0: i64 = extent a0 0 -> x0 }}
            element (x0: i64) {{ x1: i64 = a0[x0] @0 inside -> x1 }}
            {init}
            op (x0: i64, x1: i64) {{ x2: i64 = 10; x3: i64 = x0 * x2; x4: i64 = x3 + x1 -> x4 }}
            -> a1"
    )
    .replace("@0 reverse", "reverse")
}

#[test]
fn reductions_and_scans_go_in_order() {
    let init = "init () { x0: i64 = 9 -> x0 }";
    let one = |head: &str, init: &str, xs: &[i64]| run(VECTOR, &rows(head, init), &vector(xs)).remove(0);
    assert_eq!(one("Array0<i64> = reduce", init, &[1, 2, 3]), ints(&[], &[9123]));
    assert_eq!(one("Array0<i64> = reduce", init, &[]), ints(&[], &[9]));
    assert_eq!(one("Array0<i64> = reduce", "", &[1, 2, 3]), ints(&[], &[123]));
    assert_eq!(one("Array1<i64> = scan", init, &[1, 2, 3]), ints(&[4], &[9, 91, 912, 9123]));
    assert_eq!(one("Array1<i64> = scan", "", &[1, 2, 3]), ints(&[3], &[1, 12, 123]));
    assert_eq!(one("Array1<i64> = scan", init, &[]), ints(&[1], &[9]));
    assert_eq!(one("Array1<i64> = scan", "", &[]), ints(&[0], &[]));
    // From the right, the element comes first: 10 * 3 + 9, then 10 * 2 + the result.
    let reverse = |init: &str| rows("Array1<i64> = scan", init).replace("scan @0", "scan @0 reverse");
    let one = |init: &str, xs: &[i64]| run(VECTOR, &reverse(init), &vector(xs)).remove(0);
    assert_eq!(one(init, &[1, 2, 3]), ints(&[4], &[69, 59, 39, 9]));
    assert_eq!(one("", &[1, 2, 3]), ints(&[3], &[33, 23, 3]));

    let e = try_run(VECTOR, &rows("Array0<i64> = reduce", ""), &vector(&[])).unwrap_err().to_string();
    assert_eq!(e, "`outer`: expected a non-empty innermost dimension, found shape [0]");
}

#[test]
fn what_goes_wrong_is_an_error() {
    let loop_ = |extents: &str, body: &str| {
        format!("a1: Array1<i64> = loop @0 extents () {{ {extents} -> x0 }} body (x0: i64) {{ {body} -> x1 }} -> a1")
    };
    let count = "x0: i64 = extent a0 0";
    let errors = [
        (loop_("x0: i64 = -1", "x1: i64 = 1"), "`outer`: expected extents that are not negative, found [-1]"),
        (
            loop_("x0: i64 = 9223372036854775807", "x1: i64 = 1"),
            "`outer`: no memory for an array of shape [9223372036854775807]",
        ),
        (loop_(count, "x2: i64 = 0; x1: i64 = x0 / x2"), "/ in `outer`: integer division by zero"),
        (loop_(count, "x2: i64 = 7; x1: i64 = a0[x2] @0"), "`outer`: index [7] is outside the shape [2]"),
        (loop_(count, "x2: i64 = -1; x1: i64 = a0[x2] @1"), "`inner` in `outer`: index [-1] is outside the shape [2]"),
        (
            loop_(count, "x2: i64 = 2; x1: i64 = a0[x2] @0 inside"),
            "internal error: the compiler took an index for inside that is not, please report it: `outer`: index [2] is outside the shape [2]",
        ),
        (
            "a1: Array2<i64> = reshape a0 @1 extents () { x0: i64 = 3 -> x0, x0 } -> a1".into(),
            "`inner`: expected a shape of 2 elements, as [2] has, found [3, 3], which has 9",
        ),
        (loop_(count, "x2: i64 = 1; x1: i64 = x0 + x3"), "x3 does not exist"),
    ];
    for (body, message) in errors {
        let e = try_run(VECTOR, &body, &vector(&[1, 2])).unwrap_err().to_string();
        assert!(e.ends_with(message), "{body}\n{e}");
    }
    // Arguments of other types.
    let matrix = array(&[1, 1], vec![vec![1i64].into()]);
    let floats = array(&[1], vec![vec![1.0].into()]);
    let short = array(&[2], vec![vec![1i64].into()]);
    for argument in [ArrayTuple::Unit, ArrayTuple::pair(vector(&[]), vector(&[])), matrix, floats, short] {
        let e = try_run(VECTOR, "-> a0", &argument).unwrap_err().to_string();
        assert!(e.starts_with("argument of the program: expected type (Array1<i64>), found ("), "{e}");
    }
}
