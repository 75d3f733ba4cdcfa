//! Vertical fusion, splitting into columns, and horizontal fusion.

use super::*;
use insta::assert_snapshot;

const XS: &str = "a0: Array1<f64>";

/// Runs a program on vectors of several lengths.
fn on_vectors(c: &Case) {
    for n in [0, 1, 2, 7] {
        assert!(c.agrees(&[floats(&[n])]));
    }
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

/// Sums of rows, and a loop that only moves them.
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
fn a_reduction_stays_where_it_is_needed_there_or_may_give_a_negative_zero() {
    for c in [moved_sums("0.0", "a1, a2"), moved_sums("-0.0", "a2")] {
        assert!(c.text().contains("= loop"), "{}", c.text());
        assert!(c.agrees(&[floats(&[2, 3, 4])]) && c.agrees(&[floats(&[2, 3, 0])]));
    }
}

/// Row sums over the first few rows; an array of pairs of these sums and elements of `a1`, which is a result of the
/// program; and a statement that uses only the row sums of the pairs. The pairs replace the read there, so the sums get
/// two readers.
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

/// A reduction that had one reader in the pass before can get another one in this pass, when a producer is recomputed.
/// In the first two of these programs, the pass once dropped the array that the new reader needs.
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

/// The operand of a product is computed for each element of the product, if it is not stored. Finding one of many arrays takes work.
#[test]
fn many_arrays_side_by_side_are_stored_for_a_product() {
    use super::computed_extents::{matrices, optimized};
    use accel_core::prelude::*;
    let of = |k: usize| {
        afun(move |a: Acc<Matrix<f64>>, x: Acc<Vector<f64>>| {
            matmul(a, stack_inner((1..=k).map(|k| map(|x| x * k as f64, x)).collect::<Vec<_>>()))
        })
    };
    let a = Array::matrix(3, 4, (0..12).map(|i| f64::from(i * i % 7)).collect()).unwrap();
    let x = Array::vector(vec![1.0, -2.0, 3.0, 5.0]);
    for (k, stored) in [(2, 1), (4, 1), (5, 2), (12, 2)] {
        let f = of(k);
        let p = optimized(&f);
        assert_eq!(matrices(&p), stored, "{k} arrays: {p}");
        // The numbers are small integers, so the sums are exact.
        let run =
            |backend: &dyn accel_core::backend::Backend| Compiled::new(backend, &f).unwrap().run((&a, &x)).unwrap();
        let expected = run(&accel_core::interp::Interpreter);
        assert_eq!(run(&accel_fusion::OptimizedEvaluator).as_slice(), expected.as_slice(), "{k} arrays");
    }
}

#[test]
fn columns_that_are_one_value_times_numbers_are_stored_as_this_value() {
    let c = optimized(
        XS,
        "a1: Array1<f64, f64, f64, f64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) {
             x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1; x3: f64 = sin x2; x4: f64 = x2 * x3
             x5: f64 = 0.25; x6: f64 = x4 * x5; x7: f64 = 0.5; x8: f64 = x4 * x7; x9: i64 = 3; x10: bool = x0 < x9
             x11: f64 = 0.0; x12: f64 = if x10 { -> x6 } else { -> x11 }
             -> x6, x6, x8, x12 }
         a2: Array1<f64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) {
             x1: i64 = extent a0 0; x2: i64 = 1; x3: i64 = x1 - x2; x4: i64 = x3 - x0
             x5: f64, x6: f64, x7: f64, x8: f64 = a1[x0] @0 inside
             x9: f64, x10: f64, x11: f64, x12: f64 = a1[x4] @0 inside
             x13: f64 = x5 - x10; x14: f64 = x7 * x12; x15: f64 = x9 + x6; x16: f64 = x13 + x14; x17: f64 = x15 * x16; x18: f64 = x8 - x11
             x19: f64 = x17 + x18 -> x19 }
         -> a2",
    );
    assert_eq!(c.text().matches("a1: Array1<f64> = loop").count(), 1, "{}", c.text());
    on_vectors(&c);
}
