//! Producers in place of reads, columns, loops that become one.

use super::*;
use insta::assert_snapshot;

const XS: &str = "a0: Array1<f64>";

/// Runs on vectors of several lengths.
fn on_vectors(c: &Case) {
    for n in [0, 1, 2, 7] {
        assert!(c.agrees(&[floats(&[n])]));
    }
}

#[test]
fn a_single_use_is_fused_however_expensive() {
    let c = optimized(XS, &(map(1, 0, "x2: f64 = exp x1") + &map(2, 1, "x2: f64 = sin x1") + &sum(3, 2) + "-> a3"));
    assert_snapshot!(c.text(), @r"
    a1: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1; x3: f64 = sin x2 -> x3 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    -> a1
    ");
    on_vectors(&c);
}

#[test]
fn a_cheap_producer_is_computed_again() {
    let c =
        optimized(XS, &(map(1, 0, "x2: f64 = x1 + x1") + &sum(2, 1) + &map(3, 1, "x2: f64 = exp x1") + "-> a2, a3"));
    assert_snapshot!(c.text(), @r"
    a1: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = x1 + x1 -> x2 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    a2: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = x1 + x1; x3: f64 = exp x2 -> x3 }
    -> a1, a2
    ");
    on_vectors(&c);
}

#[test]
fn an_expensive_producer_is_stored_once() {
    let c =
        optimized(XS, &(map(1, 0, "x2: f64 = exp x1") + &sum(2, 1) + &map(3, 1, "x2: f64 = x1 * x1") + "-> a2, a3"));
    assert_snapshot!(c.text(), @r"
    a1: Array1<f64>, a2: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1; x3: f64 = x2 * x2 -> x2, x3 }
    a3: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a1[x0] @0 inside -> x1 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    -> a3, a2
    ");
    on_vectors(&c);
}

#[test]
fn an_expensive_producer_is_not_computed_for_every_row() {
    let c = optimized(
        XS,
        &(map(1, 0, "x2: f64 = exp x1")
            + "a2: Array2<f64> = loop @0
                 extents () { x0: i64 = 3; x1: i64 = extent a1 0 -> x0, x1 }
                 body (x0: i64, x1: i64) { x2: f64 = a1[x1] @0 inside; x3: f64 = as f64 x0; x4: f64 = x2 * x3 -> x4 }
               -> a2"),
    );
    assert_snapshot!(c.text(), @r"
    a1: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1 -> x2 }
    a2: Array2<f64> = loop @0
      extents () { x0: i64 = 3; x1: i64 = extent a0 0 -> x0, x1 }
      body (x0: i64, x1: i64) { x2: f64 = a1[x1] @0 inside; x3: f64 = as f64 x0; x4: f64 = x2 * x3 -> x4 }
    -> a2
    ");
    on_vectors(&c);
}

#[test]
fn what_moves_elements_is_never_stored() {
    // Reversed, and read in two places for every pair.
    let c = optimized(
        XS,
        "a1: Array1<f64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) {
             x1: i64 = extent a0 0; x2: i64 = 1; x3: i64 = x1 - x2; x4: i64 = x3 - x0; x5: f64 = a0[x4] @0 -> x5 }
         a2: Array2<f64> = loop @0
           extents () { x0: i64 = extent a1 0 -> x0, x0 }
           body (x0: i64, x1: i64) { x2: f64 = a1[x0] @0 inside; x3: f64 = a1[x1] @0 inside; x4: f64 = x2 - x3 -> x4 }
         -> a2",
    );
    assert_snapshot!(c.text(), @r"
    a1: Array2<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0, x0 }
      body (x0: i64, x1: i64) {
        x2: i64 = extent a0 0
        x3: i64 = 1
        x4: i64 = x2 - x3
        x5: i64 = x4 - x0
        x6: f64 = a0[x5] @0 inside
        x7: i64 = x4 - x1
        x8: f64 = a0[x7] @0 inside
        x9: f64 = x6 - x8
        -> x9
      }
    -> a1
    ");
    on_vectors(&c);
}

#[test]
fn a_copy_is_the_array_itself() {
    let c = optimized(
        "a0: Array2<f64>",
        "a1: Array2<f64> = loop @0
           extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
           body (x0: i64, x1: i64) { x2: f64 = a0[x0, x1] @0 -> x2 }
         a2: Array2<f64> = reshape a1 @0 extents () { x0: i64 = extent a1 0; x1: i64 = extent a0 1 -> x0, x1 }
         -> a2",
    );
    assert_snapshot!(c.text(), @r"
      -> a0
    ");
    assert!(c.agrees(&[floats(&[2, 3])]));
}

#[test]
fn a_transposition_is_not_a_copy() {
    let c = optimized(
        "a0: Array2<f64>",
        "a1: Array2<f64> = loop @0
           extents () { x0: i64 = extent a0 1; x1: i64 = extent a0 0 -> x0, x1 }
           body (x0: i64, x1: i64) { x2: f64 = a0[x1, x0] @0 -> x2 }
         -> a1",
    );
    assert_snapshot!(c.text(), @r"
    a1: Array2<f64> = loop @0
      extents () { x0: i64 = extent a0 1; x1: i64 = extent a0 0 -> x0, x1 }
      body (x0: i64, x1: i64) { x2: f64 = a0[x1, x0] @0 inside -> x2 }
    -> a1
    ");
    assert!(c.agrees(&[floats(&[2, 3])]) && c.agrees(&[floats(&[2, 2])]));
}

#[test]
fn an_unused_column_is_not_computed() {
    let c = optimized(
        XS,
        "a1: Array1<f64, f64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1; x3: f64 = x1 + x1 -> x2, x3 }
         a2: Array1<f64> = loop @0
           extents () { x0: i64 = extent a1 0 -> x0 }
           body (x0: i64) { x1: f64, x2: f64 = a1[x0] @0 inside -> x2 }
         -> a2",
    );
    assert_snapshot!(c.text(), @r"
    a1: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = x1 + x1 -> x2 }
    -> a1
    ");
    on_vectors(&c);
}

#[test]
fn an_array_without_columns_has_extents() {
    let c = optimized(
        XS,
        "a1: Array1<> = loop @0 extents () { x0: i64 = extent a0 0 -> x0 } body (x0: i64) { -> }
         a2: Array1<i64> = loop @0
           extents () { x0: i64 = extent a1 0 -> x0 }
           body (x0: i64) { () = a1[x0] @0 inside -> x0 }
         -> a2",
    );
    assert_snapshot!(c.text(), @r"
    a1: Array1<i64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { -> x0 }
    -> a1
    ");
    on_vectors(&c);
}

#[test]
fn columns_are_fused_by_themselves() {
    let c = optimized(
        XS,
        &("a1: Array1<f64, f64> = loop @0
             extents () { x0: i64 = extent a0 0 -> x0 }
             body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1; x3: f64 = sin x1 -> x2, x3 }
           a2: Array1<f64> = loop @0
             extents () { x0: i64 = extent a1 0 -> x0 }
             body (x0: i64) { x1: f64, x2: f64 = a1[x0] @0 inside -> x1 }
           a3: Array1<f64> = loop @0
             extents () { x0: i64 = extent a1 0 -> x0 }
             body (x0: i64) { x1: f64, x2: f64 = a1[x0] @0 inside -> x2 }\n"
            .to_string()
            + &sum(4, 2)
            + &sum(5, 3)
            + "-> a4, a5"),
    );
    assert_snapshot!(c.text(), @r"
    a1: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1 -> x2 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    a2: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = sin x1 -> x2 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    -> a1, a2
    ");
    on_vectors(&c);
}

#[test]
fn loops_over_the_same_indices_become_one() {
    let c =
        optimized(XS, &(map(1, 0, "x2: f64 = exp x1") + &sum(2, 0) + &map(3, 0, "x2: f64 = sin x1") + "-> a1, a2, a3"));
    assert_snapshot!(c.text(), @r"
    a1: Array1<f64>, a2: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1; x3: f64 = sin x1 -> x2, x3 }
    a3: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a0[x0] @0 inside -> x1 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    -> a1, a3, a2
    ");
    on_vectors(&c);
}

#[test]
fn a_loop_that_needs_a_sum_of_another_stays_behind_it() {
    let c = optimized(
        XS,
        &(map(1, 0, "x2: f64 = exp x1")
            + &sum(2, 1)
            + "a3: Array1<f64> = loop @0
                 extents () { x0: i64 = extent a0 0 -> x0 }
                 body (x0: i64) { x1: f64 = a1[x0] @0 inside; x2: f64 = a2[] @0 inside; x3: f64 = x1 / x2 -> x3 }
               -> a1, a3"),
    );
    assert_snapshot!(c.text(), @r"
    a1: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1 -> x2 }
    a2: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a1[x0] @0 inside -> x1 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    a3: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { x1: f64 = a1[x0] @0 inside; x2: f64 = a2[] @0 inside; x3: f64 = x1 / x2 -> x3 }
    -> a1, a3
    ");
    on_vectors(&c);
}

#[test]
fn equal_instructions_are_computed_once_but_not_out_of_a_branch() {
    let c = optimized(
        XS,
        "a1: Array1<f64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) {
             x1: f64 = a0[x0] @0 inside; x2: f64 = 0.0; x3: bool = x1 < x2
             x4: f64 = if x3 { x5: f64 = exp x1 -> x5 } else { -> x2 }
             x6: f64 = exp x1; x7: f64 = exp x1; x8: f64 = x4 + x6; x9: f64 = x8 + x7 -> x9 }
         -> a1",
    );
    assert_snapshot!(c.text(), @r"
    a1: Array1<f64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) {
        x1: f64 = a0[x0] @0 inside
        x2: f64 = 0.0
        x3: bool = x1 < x2
        x5: f64 = if x3 {
          x4: f64 = exp x1
          -> x4
        } else {
          -> x2
        }
        x6: f64 = exp x1
        x7: f64 = x5 + x6
        x8: f64 = x6 + x7
        -> x8
      }
    -> a1
    ");
    on_vectors(&c);
}

#[test]
fn equal_conditionals_are_executed_once_wherever_their_constants_are() {
    let branch = "x8: f64 = sin x1; x9: f64 = x7 - x8 -> x9";
    let c = optimized(
        XS,
        &format!(
            "a1: Array1<f64> = loop @0
               extents () {{ x0: i64 = extent a0 0 -> x0 }}
               body (x0: i64) {{
                 x1: f64 = a0[x0] @0 inside; x2: f64 = 0.0; x3: bool = x1 < x2
                 x4: f64 = if x3 {{ x5: f64 = 2.0; x6: f64 = sin x1; x12: f64 = x5 - x6 -> x12 }} else {{ -> x2 }}
                 x7: f64 = 2.0
                 x10: f64 = if x3 {{ {branch} }} else {{ -> x2 }}
                 x11: f64 = x4 * x10; x13: f64 = x11 + x7 -> x13 }}
             -> a1"
        ),
    );
    assert_eq!(c.text().matches("if ").count(), 1, "{}", c.text());
    on_vectors(&c);
}

#[test]
fn what_fails_and_is_not_needed_does_not_fail() {
    let c = optimized(
        "a0: Array1<i64>",
        "a1: Array1<i64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) { x1: i64 = a0[x0] @0 inside; x2: i64 = 1; x3: i64 = x2 / x1 -> x3 }
         a2: Array1<i64> = loop @0
           extents () { x0: i64 = extent a1 0 -> x0 }
           body (x0: i64) { -> x0 }
         -> a2",
    );
    assert_snapshot!(c.text(), @r"
    a1: Array1<i64> = loop @0
      extents () { x0: i64 = extent a0 0 -> x0 }
      body (x0: i64) { -> x0 }
    -> a1
    ");
    assert!(c.agrees(&[ints(&[1, 2])]));
    assert!(evaluate(&c.before, &argument(&[ints(&[0])])).is_err());
    assert!(evaluate(&c.general, &argument(&[ints(&[0])])).is_ok());
}

/// Sums of rows, and a loop that moves them.
fn moved_sums(init: &str, results: &str) -> Case {
    optimized(
        "a0: Array3<f64>",
        &format!(
            "a1: Array2<f64> = reduce @0 sum
               extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }}
               len () {{ x0: i64 = extent a0 2 -> x0 }}
               element (x0: i64, x1: i64, x2: i64) {{ x3: f64 = a0[x0, x1, x2] @0 inside -> x3 }}
               init () {{ x0: f64 = {init} -> x0 }}
               op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
             a2: Array2<f64> = loop @0
               extents () {{ x0: i64 = extent a0 1; x1: i64 = extent a0 0 -> x0, x1 }}
               body (x0: i64, x1: i64) {{ x2: f64 = 0.0; x3: f64 = a1[x1, x0] @0 inside; x4: f64 = x2 + x3 -> x4 }}
             -> {results}"
        ),
    )
}

#[test]
fn a_reduction_computes_its_results_where_they_belong() {
    let c = moved_sums("0.0", "a2");
    assert_snapshot!(c.text(), @r"
      a1: Array2<f64> = reduce @0 sum
        extents () { x0: i64 = extent a0 1; x1: i64 = extent a0 0 -> x0, x1 }
        len () { x0: i64 = extent a0 2 -> x0 }
        element (x0: i64, x1: i64, x2: i64) { x3: f64 = a0[x1, x0, x2] @0 inside -> x3 }
        init () { x0: f64 = 0.0 -> x0 }
        op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
      -> a1
    ");
    assert!(c.agrees(&[floats(&[2, 3, 4])]) && c.agrees(&[floats(&[2, 0, 4])]) && c.agrees(&[floats(&[2, 3, 0])]));
}

#[test]
fn a_reduction_stays_where_it_is_needed_there_or_may_give_a_negative_zero() {
    for c in [moved_sums("0.0", "a1, a2"), moved_sums("-0.0", "a2")] {
        assert!(c.text().contains("= loop"), "{}", c.text());
        assert!(c.agrees(&[floats(&[2, 3, 4])]) && c.agrees(&[floats(&[2, 3, 0])]));
    }
}

/// Row sums over the first few rows, an array of pairs of them and elements of `a1`, which is a result of the program, and a statement
/// that only needs the row sums of the pairs: the pairs are put there in place of the read, so that the sums have two readers.
fn sums_in_pairs(last: &str) -> Case {
    let rows = "x0: i64 = 4; x1: i64 = extent a0 0; x2: i64 = min x0 x1";
    let pairs = format!("{rows}; x3: i64 = extent a1 0; x4: i64 = min x2 x3");
    optimized(
        "a0: Array1<f64>, a1: Array1<f64>",
        &format!(
            "a2: Array1<f64> = reduce @0 sum
               extents () {{ {rows} -> x2 }} len () {{ {rows} -> x2 }}
               element (x0: i64, x1: i64) {{ x2: f64 = a0[x0] @0; x3: f64 = a0[x1] @0; x4: f64 = x2 * x3 -> x4 }}
               init () {{ x0: f64 = 0.0 -> x0 }}
               op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
             a3: Array1<f64, f64> = loop @0
               extents () {{ {pairs} -> x4 }}
               body (x0: i64) {{ x1: f64 = a2[x0] @0; x2: f64 = a1[x0] @0 -> x1, x2 }}
             {}
             -> a4, a3",
            last.replace("PAIRS", &format!("{pairs} -> x4"))
        ),
    )
}

/// A reduction is not thought to be needed by one loop only because it was so before the pass: the first two of these brought a second reader
/// into being, and lost the array that it reads.
#[test]
fn a_reduction_stays_where_a_producer_that_reads_it_is_computed_again() {
    let first = "x1: f64, x2: f64 = a3[x0] @0";
    let sum = "init () { x0: f64 = 0.0 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }";
    let copied = format!("a4: Array1<f64> = loop @0 extents () {{ PAIRS }} body (x0: i64) {{ {first} -> x1 }}");
    let plus_zero = format!(
        "a4: Array1<f64> = loop @0 extents () {{ PAIRS }} body (x0: i64) {{ {first}; x3: f64 = 0.0; x4: f64 = x1 + x3 -> x4 }}"
    );
    let scanned = format!(
        "a5: Array1<f64> = loop @0 extents () {{ PAIRS }} body (x0: i64) {{ {first} -> x1 }}
         a4: Array1<f64> = scan @0 sum extents () {{ -> }} len () {{ PAIRS }}
           element (x0: i64) {{ x1: f64 = a5[x0] @0 -> x1 }} {sum}"
    );
    let in_a_branch = format!(
        "a4: Array1<f64> = if @0 cond () {{ x0: i64 = extent a1 0; x1: i64 = 2; x2: bool = x0 > x1 -> x2 }}
         then {{ a5: Array1<f64> = loop @0 extents () {{ PAIRS }} body (x0: i64) {{ {first} -> x1 }} -> a5 }}
         else {{ -> a1 }}"
    );
    for last in [copied, plus_zero, scanned, in_a_branch] {
        let c = sums_in_pairs(&last);
        for p in [c.text(), c.general()] {
            assert_eq!(p.matches("= reduce").count(), 1, "{p}");
        }
        for (n, m) in [(0, 0), (1, 3), (3, 1), (4, 4), (7, 3), (5, 9)] {
            c.agrees(&[floats(&[n]), floats(&[m])]);
        }
    }
}

/// What a reduction computes for nobody goes, but what decides about the rest stays: of value, place and a third column that goes with
/// them only the place is used.
#[test]
fn columns_of_reductions_that_nobody_needs_go() {
    let largest = "a1: Array0<f64, i64, f64> = reduce @0 extents () { -> } len () { x0: i64 = extent a0 0 -> x0 }
        element (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1 -> x1, x0, x2 }
        init () { x0: f64 = -9.0; x1: i64 = -1; x2: f64 = 0.0 -> x0, x1, x2 }
        op (x0: f64, x1: i64, x2: f64, x3: f64, x4: i64, x5: f64) {
          x6: bool = x0 >= x3
          x7: f64, x8: i64, x9: f64 = if x6 { -> x0, x1, x2 } else { -> x3, x4, x5 }
          -> x7, x8, x9
        }
        a2: Array0<i64> = loop @0 extents () { -> } body () { x0: f64, x1: i64, x2: f64 = a1[] @0 inside; x3: i64 = x1 + x1 -> x3 }
        -> a2";
    let c = optimized(XS, largest);
    assert_snapshot!(c.text(), @r"
    a1: Array0<f64, i64> = reduce @0
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a0[x0] @0 inside -> x1, x0 }
      init () { x0: f64 = -9.0; x1: i64 = -1 -> x0, x1 }
      op (x0: f64, x1: i64, x2: f64, x3: i64) {
        x4: bool = x0 >= x2
        x5: f64, x6: i64 = if x4 {
          -> x0, x1
        } else {
          -> x2, x3
        }
        -> x5, x6
      }
    a2: Array0<i64> = loop @0
      extents () { -> }
      body () { x0: f64, x1: i64 = a1[] @0 inside; x2: i64 = x1 + x1 -> x2 }
    -> a2
    ");
    on_vectors(&c);
    // Where the columns are combined by themselves, one alone may be a well-known reduction.
    let sums = "a1: Array0<f64, f64> = reduce @0 extents () { -> } len () { x0: i64 = extent a0 0 -> x0 }
        element (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1 -> x2, x1 }
        init () { x0: f64 = 0.0 -> x0, x0 }
        op (x0: f64, x1: f64, x2: f64, x3: f64) { x4: f64 = x0 + x2; x5: f64 = x1 + x3 -> x4, x5 }
        a2: Array0<f64> = loop @0 extents () { -> } body () { x0: f64, x1: f64 = a1[] @0 inside; x2: f64 = x1 + x1 -> x2 }
        -> a2";
    let c = optimized(XS, sums);
    assert_snapshot!(c.text(), @r"
    a1: Array0<f64> = reduce @0 sum
      extents () { -> }
      len () { x0: i64 = extent a0 0 -> x0 }
      element (x0: i64) { x1: f64 = a0[x0] @0 inside -> x1 }
      init () { x0: f64 = 0.0 -> x0 }
      op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    a2: Array0<f64> = loop @0
      extents () { -> }
      body () { x0: f64 = a1[] @0 inside; x1: f64 = x0 + x0 -> x1 }
    -> a2
    ");
    on_vectors(&c);
}
