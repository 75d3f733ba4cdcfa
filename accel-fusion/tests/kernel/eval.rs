//! The evaluator on programs that are written by hand: every kind of statement and of instruction.

use crate::program;
use accel_core::error::Result;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::evaluate;

fn array(extents: &[usize], columns: Vec<Column>) -> ArrayTuple {
    ArrayTuple::Array(RawArray { extents: extents.into(), columns: columns.into() })
}

fn vector(xs: &[i64]) -> ArrayTuple {
    array(&[xs.len()], vec![xs.to_vec().into()])
}

/// Runs a program with the given inputs and body, whose sites are 0 and 1.
fn try_run(inputs: &str, body: &str, argument: &ArrayTuple) -> Result<Vec<RawArray>> {
    evaluate(&program(&format!("program ({inputs})\nsite 0 = \"outer\"\nsite 1 = \"inner\"\n{{\n{body}\n}}")), argument)
}

/// Extents and columns of the results.
fn run(inputs: &str, body: &str, argument: &ArrayTuple) -> Vec<(Vec<usize>, Vec<Column>)> {
    let results = try_run(inputs, body, argument).unwrap_or_else(|e| panic!("{e}"));
    results.into_iter().map(|a| (a.extents.to_vec(), a.columns.to_vec())).collect()
}

fn ints(extents: &[usize], xs: &[i64]) -> (Vec<usize>, Vec<Column>) {
    (extents.to_vec(), vec![xs.to_vec().into()])
}

const VECTOR: &str = "a0: Array1<i64>";

#[test]
fn loops_define_several_arrays() {
    let body = "a1: Array2<i64, bool>, a2: Array2<f64> = loop @0
        extents () { x0: i64 = extent a0 0; x1: i64 = 2 -> x0, x1 }
        body (x0: i64, x1: i64) {
            x2: i64 = a0[x0] @0 inside
            x3: i64 = x2 * x1
            x4: bool = x2 < x1
            x5: f64 = as f64 x3
            -> x3, x4, x5
        }
        -> a2, a1, a0";
    let results = run(VECTOR, body, &vector(&[5, 0]));
    assert_eq!(results[0], (vec![2, 2], vec![vec![0.0, 5.0, 0.0, 0.0].into()]));
    let bools = vec![false, false, false, true];
    assert_eq!(results[1], (vec![2, 2], vec![vec![0i64, 5, 0, 0].into(), bools.into()]));
    assert_eq!(results[2], ints(&[2], &[5, 0]));
}

#[test]
fn literals_and_reshape() {
    let p = program(
        "program () site 0 = \"use\" literal 0 = [4] i64 { 1 2 3 4 } u8 { 5 6 7 8 } {
            a0: Array1<i64, u8> = literal 0 @0
            a1: Array2<i64, u8> = reshape a0 @0 extents () { x0: i64 = 2 -> x0, x0 }
            -> a1
        }",
    );
    let result = evaluate(&p, &ArrayTuple::Unit).unwrap().remove(0);
    assert_eq!(*result.extents, [2, 2]);
    assert_eq!(result.columns[..], [vec![1i64, 2, 3, 4].into(), vec![5u8, 6, 7, 8].into()]);
}

/// `a1 = op of a0`, where appending digits tells the order: 10 a + b.
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
    // From the right the element comes first: 10 * 3 + 9, then 10 * 2 + that.
    let reverse = |init: &str| rows("Array1<i64> = scan", init).replace("scan @0", "scan @0 reverse");
    let one = |init: &str, xs: &[i64]| run(VECTOR, &reverse(init), &vector(xs)).remove(0);
    assert_eq!(one(init, &[1, 2, 3]), ints(&[4], &[69, 59, 39, 9]));
    assert_eq!(one("", &[1, 2, 3]), ints(&[3], &[33, 23, 3]));

    let e = try_run(VECTOR, &rows("Array0<i64> = reduce", ""), &vector(&[])).unwrap_err().to_string();
    assert_eq!(e, "`outer`: expected a non-empty innermost dimension, found shape [0]");
}

#[test]
fn rows_of_a_matrix() {
    let body = "a0: Array2<i64> = scan @0 sum
            extents () { x0: i64 = 2 -> x0 }
            len () { x0: i64 = 3 -> x0 }
            element (x0: i64, x1: i64) { x2: i64 = 10; x3: i64 = x0 * x2; x4: i64 = x3 + x1 -> x4 }
            op (x0: i64, x1: i64) { x2: i64 = x0 + x1 -> x2 }
        a1: Array1<i64> = reduce @0 max
            extents () { x0: i64 = 2 -> x0 }
            len () { x0: i64 = 3 -> x0 }
            element (x0: i64, x1: i64) { x2: i64 = a0[x0, x1] @1 inside -> x2 }
            op (x0: i64, x1: i64) { x2: i64 = max x0 x1 -> x2 }
        -> a0, a1";
    assert_eq!(run("", body, &ArrayTuple::Unit), [ints(&[2, 3], &[0, 1, 3, 10, 21, 33]), ints(&[2], &[3, 33])]);
}

#[test]
fn permutations_combine_the_new_element_with_the_old_one() {
    let body = "a2: Array1<i64> = permute a1 @0
            extents () { x0: i64 = extent a0 0 -> x0 }
            target (x0: i64) { x1: i64 = a0[x0] @0 inside; x2: i64 = 0; x3: bool = x1 >= x2 -> x3, x1 }
            element (x0: i64) { x1: i64 = 1; x2: i64 = x0 + x1 -> x2 }
            comb (x0: i64, x1: i64) { x2: i64 = 10; x3: i64 = x1 * x2; x4: i64 = x3 + x0 -> x4 }
        -> a2, a1";
    let inputs = "a0: Array1<i64>, a1: Array1<i64>";
    let argument = |xs: &[i64]| ArrayTuple::pair(vector(xs), vector(&[7, 8]));
    let results = run(inputs, body, &argument(&[1, -5, 0, 1]));
    // The defaults are not changed.
    assert_eq!(results, [ints(&[2], &[73, 814]), ints(&[2], &[7, 8])]);
    let e = try_run(inputs, body, &argument(&[2])).unwrap_err().to_string();
    assert_eq!(e, "`outer`: index [2] is outside the shape [2]");
}

#[test]
fn blocks() {
    let body = "a1: Array1<i64> = if @0
            cond () { x0: i64 = extent a0 0; x1: i64 = 2; x2: bool = x0 > x1 -> x2 }
            then {
                a2: Array1<i64> = loop @0
                    extents () { x0: i64 = 1 -> x0 }
                    body (x0: i64) { x1: i64 = a0[x0] @0 -> x1 }
                -> a2
            }
            else { -> a0 }
        a3: Array1<i64>, a4: Array1<i64> = while a0, a1 @0
            cond {
                a5: Array0<bool> = loop @0
                    extents () { -> }
                    body () { x0: i64 = 0; x1: i64 = a3[x0] @0; x2: i64 = 3; x3: bool = x1 < x2 -> x3 }
                -> a5
            }
            body {
                a6: Array1<i64> = loop @0
                    extents () { x0: i64 = extent a4 0 -> x0 }
                    body (x0: i64) { x1: i64 = a4[x0] @0; x2: i64 = 1; x3: i64 = x1 + x2 -> x3 }
                -> a6, a3
            }
        -> a1, a3, a4";
    // The two arrays change places, each with 1 more.
    let results = run(VECTOR, body, &vector(&[1, 5]));
    assert_eq!(results, [ints(&[2], &[1, 5]), ints(&[2], &[3, 7]), ints(&[2], &[2, 6])]);
    let results = run(VECTOR, body, &vector(&[4, 5, 6]));
    assert_eq!(results, [ints(&[1], &[4]), ints(&[3], &[4, 5, 6]), ints(&[1], &[4])]);
}

#[test]
fn branches_and_loops_of_scalar_code() {
    // The greatest common divisor of an element and 12, and how many steps that takes; 0 is left alone.
    let body = "a1: Array1<i64, i64> = loop @0
            extents () { x0: i64 = extent a0 0 -> x0 }
            body (x0: i64) {
                x1: i64 = a0[x0] @0 inside
                x2: i64 = 0
                x3: bool = x1 == x2
                x4: i64, x5: i64 = if x3 {
                    -> x1, x2
                } else {
                    x6: i64 = 12
                    x7: i64, x8: i64, x9: i64 = while x6, x1, x2 cond {
                        x10: bool = x8 != x2
                        -> x10
                    } body {
                        x11: i64 = x7 % x8
                        x12: i64 = 1
                        x13: i64 = x9 + x12
                        -> x8, x11, x13
                    }
                    -> x7, x9
                }
                -> x4, x5
            }
        -> a1";
    let (extents, columns) = run(VECTOR, body, &vector(&[8, 0, 5, 24])).remove(0);
    assert_eq!((extents, columns), (vec![4], vec![vec![4i64, 0, 1, 12].into(), vec![2i64, 0, 3, 2].into()]));
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
