//! Conditionals and loops over arrays.

use super::*;

/// A loop whose state is a step number and a vector. The next vector a2 has extents `extents` and elements `body`.
fn repeated(extents: &str, body: &str, after: &str) -> Case {
    optimized(
        "a0: Array1<f64>",
        &format!(
            "a1: Array0<i64> = loop @0 extents () {{ -> }} body () {{ x0: i64 = 0 -> x0 }}
             a3: Array0<i64>, a2: Array1<f64> = while a1, a0 @0
               cond {{
                 a4: Array0<bool> = loop @0 extents () {{ -> }}
                   body () {{ x0: i64 = a3[] @0 inside; x1: i64 = 3; x2: bool = x0 < x1 -> x2 }}
                 -> a4
               }}
               body {{
                 a5: Array0<i64> = loop @0 extents () {{ -> }}
                   body () {{ x0: i64 = a3[] @0 inside; x1: i64 = 1; x2: i64 = x0 + x1 -> x2 }}
                 a6: Array1<f64> = loop @0 extents () {{ {extents} }} body (x0: i64) {{ {body} }}
                 -> a5, a6
               }}
             {after}"
        ),
    )
}

/// Adds the result of the loop to the argument. Their extents can differ.
const ADDED: &str = "a7: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a2 0; x2: i64 = min x0 x1 -> x2 }
    body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = a2[x0] @0 inside; x3: f64 = x1 + x2 -> x3 }
  -> a7";

#[test]
fn a_loop_may_change_extents() {
    // The vector gets longer.
    let c = repeated(
        "x0: i64 = extent a2 0; x1: i64 = 1; x2: i64 = x0 + x1 -> x2",
        "x1: i64 = extent a2 0; x2: bool = x0 < x1; x4: f64 = if x2 { x3: f64 = a2[x0] @0 -> x3 } else { x5: f64 = 9.0 -> x5 } -> x4",
        ADDED,
    );
    assert!(c.text().contains("extent a2 0") || c.text().contains("min"), "{}", c.text());
    assert!(c.agrees(&[floats(&[3])]) && c.agrees(&[floats(&[0])]));
    let c = repeated(
        "x0: i64 = extent a2 0; x1: i64 = 1; x2: i64 = x0 + x1 -> x2",
        "x1: f64 = as f64 x0 -> x1",
        "-> a2, a3",
    );
    assert!(c.agrees(&[floats(&[3])]) && c.agrees(&[floats(&[0])]));
    // The vector gets shorter, down to a negative extent.
    let c = repeated(
        "x0: i64 = extent a2 0; x1: i64 = 1; x2: i64 = x0 - x1 -> x2",
        "x1: i64 = 1; x2: i64 = x0 + x1; x3: f64 = a2[x2] @0 -> x3",
        ADDED,
    );
    for n in 0..6 {
        c.agrees(&[floats(&[n])]);
    }
}

#[test]
fn a_read_outside_of_a_loop_fails_only_when_the_loop_runs() {
    let c =
        repeated("x0: i64 = extent a2 0 -> x0", "x1: i64 = 5; x2: i64 = x0 + x1; x3: f64 = a0[x2] @0 -> x3", "-> a2");
    for n in [0, 1, 6] {
        c.agrees(&[floats(&[n])]);
    }
}

#[test]
fn what_is_computed_before_a_loop_is_not_computed_in_it() {
    let c = repeated(
        "x0: i64 = extent a2 0 -> x0",
        "x1: f64 = a2[x0] @0 inside; x2: i64 = 0; x3: f64 = a0[x0] @0; x4: f64 = x1 * x3 -> x4",
        "-> a2",
    );
    assert!(c.agrees(&[floats(&[4])]));
    // An expensive producer stays outside the loop, even if only the loop reads it.
    let c = optimized(
        "a0: Array1<f64>",
        &(map(1, 0, "x2: f64 = exp x1")
            + "a2: Array1<f64> = while a0 @0
                 cond {
                   a3: Array0<bool> = loop @0 extents () { -> }
                     body () { x0: i64 = 0; x1: f64 = a2[x0] @0; x2: f64 = 4.0; x3: bool = x1 < x2 -> x3 }
                   -> a3
                 }
                 body {
                   a4: Array1<f64> = loop @0
                     extents () { x0: i64 = extent a2 0 -> x0 }
                     body (x0: i64) { x1: f64 = a2[x0] @0 inside; x2: f64 = a1[x0] @0; x3: f64 = x1 + x2; x4: f64 = 1.0; x5: f64 = x3 + x4 -> x5 }
                   -> a4
                 }
               -> a2"),
    );
    assert!(c.text().find("exp").unwrap() < c.text().find("while").unwrap(), "{}", c.text());
    assert!(c.agrees(&[floats(&[3])]) && c.agrees(&[floats(&[0])]));
}

/// A loop of as many steps as a0 has elements and `more`, that lists its rows; and twice the listed rows.
fn rows_of_steps(more: i64) -> Case {
    optimized(
        "a0: Array1<f64>",
        &format!(
            "a1: Array0<i64> = loop @0 extents () {{ -> }}
               body () {{ x0: i64 = extent a0 0; x1: i64 = {more}; x2: i64 = x0 + x1 -> x2 }}
             a3: Array1<i64> = times a1 () @0 row a2: Array0<i64> body {{ -> a2 }}
             a4: Array1<i64> = loop @0
               extents () {{ x0: i64 = extent a3 0 -> x0 }}
               body (x0: i64) {{ x1: i64 = a3[x0] @0; x2: i64 = x1 + x1 -> x2 }}
             -> a4"
        ),
    )
}

#[test]
fn a_list_has_as_many_rows_as_its_loop_has_steps() {
    // With a negative number, there are no steps.
    for more in [0, -2] {
        let c = rows_of_steps(more);
        assert_eq!(c.text().contains("extent a2 0"), more != 0, "{}", c.text());
        assert!([0, 1, 2, 5].iter().all(|n| c.agrees(&[floats(&[*n])])));
    }
}
