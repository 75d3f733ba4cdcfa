//! Recomputed operands of matrix products.

use super::*;
use accel_fusion::pipeline::compute_operands;

/// The differences of all rows of a0 and all rows of a1, `a2[x0, x1, x2] = code`; their product with a matrix; and more
/// statements.
fn program(code: &str, more: &str) -> Program {
    let text = format!(
        "program (a0: Array2<f64>, a1: Array2<f64>)
         site 0 = \"here\"
         {{
           a2: Array3<f64> = loop @0
             extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 0; x2: i64 = extent a1 1 -> x0, x1, x2 }}
             body (x0: i64, x1: i64, x2: i64) {{ x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x1, x2] @0 inside; {code} }}
           a3: Array3<f64> = reduce @0 sum
             extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 0 -> x0, x1, x1 }}
             len () {{ x0: i64 = extent a1 1 -> x0 }}
             element (x0: i64, x1: i64, x2: i64, x3: i64) {{
               x4: f64 = a2[x0, x1, x3] @0 inside; x5: f64 = a1[x2, x3] @0 inside; x6: f64 = x4 * x5 -> x6 }}
             init () {{ x0: f64 = 0.0 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
           {more}
         }}"
    );
    parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

const DIFFERENCE: &str = "x5: f64 = x3 - x4 -> x5";

/// Whether the loop has disappeared. Also checks that the results stay the same.
fn is_gone(p: &Program) -> bool {
    let after = compute_operands(p).unwrap_or_else(|e| panic!("{e}\n{p}"));
    let inputs = argument(&[floats(&[3, 4]), floats(&[2, 4])]);
    same(&evaluate(p, &inputs), &evaluate(&after, &inputs));
    !statements(&after).contains("Array3<f64> = loop")
}

#[test]
fn what_only_a_product_reads_is_computed_there() {
    assert!(is_gone(&program(DIFFERENCE, "-> a3")));
}

#[test]
fn another_reader_computes_it_too_if_it_reads_every_element_once() {
    let sums = |index: &str| {
        format!(
            "a4: Array2<f64> = reduce @0 sum
               extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 0 -> x0, x1 }}
               len () {{ x0: i64 = extent a1 1 -> x0 }}
               element (x0: i64, x1: i64, x2: i64) {{ x3: f64 = a2[{index}] @0 inside; x4: f64 = x3 * x3 -> x4 }}
               init () {{ x0: f64 = 0.0 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
             -> a3, a4"
        )
    };
    assert!(is_gone(&program(DIFFERENCE, &sums("x0, x1, x2"))));
    assert!(!is_gone(&program(DIFFERENCE, &sums("x0, x1, x1"))));
}

#[test]
fn what_takes_work_or_is_a_result_is_stored() {
    assert!(!is_gone(&program("x5: f64 = x3 - x4; x6: f64 = exp x5 -> x6", "-> a3")));
    assert!(!is_gone(&program(DIFFERENCE, "-> a2, a3")));
    let extent = "a4: Array1<f64> = loop @0 extents () { x0: i64 = extent a2 1 -> x0 } body (x0: i64) { x1: f64 = 0.5 -> x1 } -> a3, a4";
    assert!(!is_gone(&program(DIFFERENCE, extent)));
}
