//! Scans that go down, and scans that define the copies of their results.

use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::{Program, evaluate, parse};
use accel_fusion::pipeline::scans;

/// A program with a scan `a1` of the columns of `a0`, with this element, and then these statements and results.
fn program(element: &str, init: &str, rest: &str) -> Program {
    let text = format!(
        r#"program (a0: Array2<f64>)
site 0 = "scanr1"
{{
  a1: Array2<f64> = scan @0 reverse sum
    extents () {{ x0: i64 = extent a0 1 -> x0 }}
    len () {{ x0: i64 = extent a0 0 -> x0 }}
    element (x0: i64, x1: i64) {{ x2: f64 = a0[x1, x0] @0 inside; {element} }}
    {init}
    op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
{rest}
}}"#
    );
    parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The program after the pass, which must have the same results, negative zeros included.
fn passed(p: &Program) -> String {
    let after = scans(p).unwrap();
    for (n, m) in [(0, 3), (1, 1), (3, 2), (5, 40)] {
        let xs: Vec<f64> = (0..n * m).map(|i| if i % 3 == 0 { -0.0 } else { f64::from(i) - 4.0 }).collect();
        let a = RawArray { extents: vec![n as usize, m as usize].into(), columns: vec![Column::from(xs)].into() };
        let run = |p: &Program| evaluate(p, &ArrayTuple::Array(a.clone())).map_err(|e| e.to_string());
        assert_eq!(format!("{:?}", run(p)), format!("{:?}", run(&after)), "{n} {m}\n{after}");
    }
    after.to_string()
}

/// A loop that transposes `a1` and uses each element in this way.
fn transposed(rows: &str, body: &str) -> String {
    format!(
        "a2: Array2<f64> = loop @0
    extents () {{ x0: i64 = {rows}; x1: i64 = extent a1 0 -> x0, x1 }}
    body (x0: i64, x1: i64) {{ x2: f64 = a1[x1, x0] @0 inside; {body} }}"
    )
}

#[test]
fn a_transposed_scan_goes_down_and_defines_the_copy() {
    for rows in ["extent a0 0", "extent a1 1"] {
        let after = passed(&program("-> x2", "", &format!("{}\n-> a2", transposed(rows, "-> x2"))));
        assert!(after.contains("a1: Array2<f64> = scan @0 reverse down sum") && !after.contains("loop"), "{after}");
    }
}

#[test]
fn an_initial_value_is_one_more_element() {
    let init = "init () { x0: f64 = 7.0 -> x0 }";
    let after = passed(&program("-> x2", init, &format!("{}\n-> a2", transposed("extent a1 1", "-> x2"))));
    assert!(after.contains("down") && !after.contains("loop"), "{after}");
    // A loop over fewer elements is no copy.
    let after = passed(&program("-> x2", init, &format!("{}\n-> a2", transposed("extent a0 0", "-> x2"))));
    assert!(after.contains("down") && after.contains("loop"), "{after}");
}

#[test]
fn adding_zero_is_a_copy_of_what_is_never_negative_zero() {
    let plus = "x3: f64 = 0.0; x4: f64 = x3 + x2 -> x4";
    let rest = format!("{}\n-> a2", transposed("extent a0 0", plus));
    for (element, init, copies) in [
        (plus, "", true),
        ("-> x2", "", false),
        ("-> x2", "init () { x0: f64 = 0.0 -> x0 }", true),
        ("-> x2", "init () { x0: f64 = -0.0 -> x0 }", false),
    ] {
        let rows = if init.is_empty() { rest.clone() } else { rest.replace("extent a0 0", "extent a1 1") };
        let after = passed(&program(element, init, &rows));
        assert_eq!(!after.contains("loop"), copies, "{after}");
    }
}

#[test]
fn a_scan_that_is_used_otherwise_stays() {
    // It is a result.
    let after = passed(&program("-> x2", "", &format!("{}\n-> a1, a2", transposed("extent a0 0", "-> x2"))));
    assert!(!after.contains("down") && after.contains("loop"), "{after}");
    // It is read along its rows.
    let along = "a2: Array2<f64> = loop @0
    extents () { x0: i64 = extent a1 0; x1: i64 = extent a1 1 -> x0, x1 }
    body (x0: i64, x1: i64) { x2: f64 = a1[x0, x1] @0 inside; x3: f64 = x2 * x2 -> x3 }\n-> a2";
    let after = passed(&program("-> x2", "", along));
    assert!(!after.contains("down") && after.contains("loop"), "{after}");
}
