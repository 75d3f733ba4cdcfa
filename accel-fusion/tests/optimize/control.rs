//! Conditionals and loops of the host.

use super::*;
use insta::assert_snapshot;

#[test]
fn a_condition_on_extents_that_is_known_chooses_a_branch() {
    let c = optimized(
        "a0: Array1<f64>",
        &("a1: Array1<f64> = loop @0
             extents () { x0: i64 = extent a0 0 -> x0 } body (x0: i64) { x1: f64 = as f64 x0 -> x1 }
           a2: Array1<f64> = if @0
             cond () { x0: i64 = extent a0 0; x1: i64 = extent a1 0; x2: bool = x0 == x1 -> x2 }
             then { -> a1 }
             else {\n"
            .to_string()
            + &map(3, 0, "x2: f64 = exp x1")
            + " -> a3 }
           -> a2"),
    );
    assert_snapshot!(c.text(), @r"
    a1: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = as f64 x0 -> x1 }
    -> a1
    ");
    assert!(c.agrees(&[floats(&[3])]));
}

/// A loop over (a step number, a vector): the next vector is a2 of extents `extents` and elements `body`.
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

/// Adds what the loop computed to the argument, of which the extents may differ.
const ADDED: &str = "a7: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a2 0; x2: i64 = min x0 x1 -> x2 }
    body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = a2[x0] @0 inside; x3: f64 = x1 + x2 -> x3 }
  -> a7";

#[test]
fn a_loop_that_keeps_extents_is_known_to() {
    let c = repeated("x0: i64 = extent a2 0 -> x0", "x1: f64 = a2[x0] @0 inside; x2: f64 = x1 * x1 -> x2", ADDED);
    assert_snapshot!(c.text(), @r"
    a1: Array0<i64> = loop @0
      extents () { -> }
      body () { x0: i64 = 0 -> x0 }
    a2: Array0<i64>, a3: Array1<f64> = while a1, a0 @0
      cond {
        a4: Array0<bool> = loop @0
          extents () { -> }
          body () { x0: i64 = a2[] @0 inside; x1: i64 = 3; x2: bool = x0 < x1 -> x2 }
        -> a4
      }
      body {
        a5: Array0<i64> = loop @0
          extents () { -> }
          body () { x0: i64 = a2[] @0 inside; x1: i64 = 1; x2: i64 = x0 + x1 -> x2 }
        a6: Array1<f64> = loop @0
          extents () { x0: i64 = extent a0 0 -> x0 }
          body (x0: i64) { x1: f64 = a3[x0] @0 inside; x2: f64 = x1 * x1 -> x2 }
        -> a5, a6
      }
    a7: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = a3[x0] @0 inside; x3: f64 = x1 + x2 -> x3 }
    -> a7
    ");
    assert!(c.agrees(&[floats(&[3])]) && c.agrees(&[floats(&[0])]));
}

#[test]
fn a_loop_may_change_extents() {
    // It gets longer.
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
    // It gets shorter, down to a negative extent.
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
fn states_that_change_places_keep_their_values() {
    let c = optimized(
        "a0: Array1<f64>, a1: Array1<f64>",
        &("a2: Array1<f64>, a3: Array1<f64> = while a0, a1 @0
             cond {
               a4: Array0<bool> = loop @0 extents () { -> }
                 body () { x0: i64 = 0; x1: f64 = a2[x0] @0; x2: f64 = 4.0; x3: bool = x1 < x2 -> x3 }
               -> a4
             }
             body {\n"
            .to_string()
            + &map(5, 2, "x3: f64 = 3.0; x2: f64 = x1 + x3")
            + "  -> a3, a5
             }
           -> a2, a3, a0"),
    );
    assert!(c.agrees(&[floats(&[3]), floats(&[3])]) && c.agrees(&[floats(&[3]), floats(&[2])]));
}

#[test]
fn what_is_computed_before_a_loop_is_not_computed_in_it() {
    let c = repeated(
        "x0: i64 = extent a2 0 -> x0",
        "x1: f64 = a2[x0] @0 inside; x2: i64 = 0; x3: f64 = a0[x0] @0; x4: f64 = x1 * x3 -> x4",
        "-> a2",
    );
    assert!(c.agrees(&[floats(&[4])]));
    // An expensive producer that is read in the loop only stays outside.
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

#[test]
fn a_branch_sees_what_is_outside_and_nothing_leaves_it() {
    let c = optimized(
        "a0: Array1<f64>, a1: Array0<bool>",
        &(map(2, 0, "x2: f64 = exp x1")
            + "a3: Array1<f64> = if @0
                 cond () { x0: bool = a1[] @0 inside -> x0 }
                 then {\n"
            + &map(4, 2, "x2: f64 = x1 + x1")
            + " -> a4 }
                 else {\n"
            + &map(5, 2, "x2: f64 = x1 * x1")
            + " -> a5 }\n"
            + &sum(6, 3)
            + "-> a6"),
    );
    assert_snapshot!(c.text(), @r"
    a2: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1 -> x2 }
    a3: Array1<f64> = if @0
      cond () { x0: bool = a1[] @0 inside -> x0 }
      then {
        a4: Array1<f64> = loop @0
          extents () { x0: i64 = extent a0 0 -> x0 }
          body (x0: i64) { x1: f64 = a2[x0] @0 inside; x2: f64 = x1 + x1 -> x2 }
        -> a4
      }
      else {
        a5: Array1<f64> = loop @0
          extents () { x0: i64 = extent a0 0 -> x0 }
          body (x0: i64) { x1: f64 = a2[x0] @0 inside; x2: f64 = x1 * x1 -> x2 }
        -> a5
      }
    a6: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a3[x0] @0 inside -> x1 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    -> a6
    ");
    for b in [false, true] {
        assert!(c.agrees(&[floats(&[3]), array(&[], vec![b])]));
    }
}
