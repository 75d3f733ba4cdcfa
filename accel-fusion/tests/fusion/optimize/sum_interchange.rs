//! Sum interchange.

use super::*;

/// The column sums of a matrix product: `a3[j] = step(Σ_n (Σ_i element))`. The element is computed from `x0` (n), `x1`
/// (j) and `x2` (i), and the step computes `x3` from `x2`.
fn column_sums(element: &str, init: &str, step: &str) -> Case {
    optimized(
        "a0: Array2<f64>, a1: Array2<f64>",
        &format!(
            "a2: Array2<f64> = reduce @0 sum extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 1 -> x0, x1 }}
               len () {{ x0: i64 = extent a0 1 -> x0 }}
               element (x0: i64, x1: i64, x2: i64) {{ {element} }}
               init () {{ x0: f64 = {init} -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
             a3: Array1<f64> = reduce @0 sum extents () {{ x0: i64 = extent a1 1 -> x0 }}
               len () {{ x0: i64 = extent a0 0 -> x0 }}
               element (x0: i64, x1: i64) {{ x2: f64 = a2[x1, x0] @0 inside; {step} -> x3 }}
               init () {{ x0: f64 = 0.5 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
             -> a3"
        ),
    )
}

const PRODUCT: &str = "x3: f64 = a0[x0, x2] @0; x4: f64 = a1[x2, x1] @0; x5: f64 = x3 * x4 -> x5";
/// A sum of two products, as in tangents, of which one is subtracted.
const PRODUCTS: &str = "x3: f64 = a0[x0, x2] @0; x4: f64 = a1[x2, x1] @0; x5: f64 = strong_mul x3 x4;
    x6: f64 = x3 + x3; x7: f64 = x4 * x4; x8: f64 = strong_mul x6 x7; x9: f64 = x5 - x8 -> x9";
const NEG: &str = "x3: f64 = neg x2";

#[test]
fn without_rows_nothing_is_multiplied() {
    let c = column_sums(PRODUCT, "0.0", NEG);
    // A factor is infinite, and there are no numbers to multiply it with.
    let infinite = array(&[1, 2], vec![f64::INFINITY, f64::NAN]);
    assert!(!c.agrees(&[floats(&[0, 1]), infinite]));
    assert!(!statements(&c.general).contains("a4"), "{}", c.general());
}

#[test]
fn other_sums_stay_in_their_places() {
    let reduces = |c: &Case| c.text().matches("a2: Array2<f64> = reduce").count();
    let squared = "x4: f64 = x2 * x2; x3: f64 = neg x4";
    let same_index = "x3: f64 = a0[x0, x2] @0; x4: f64 = a0[x0, x1] @0; x5: f64 = x3 * x4 -> x5";
    let all = [
        // Every product depends on all indices: the interchange would save no multiplication.
        column_sums(same_index, "0.0", NEG),
        // An element that is not a product, sums that do not start with 0, and a step that is not linear.
        column_sums("x3: f64 = a0[x0, x2] @0; x4: f64 = a1[x2, x1] @0; x5: f64 = x3 + x4 -> x5", "0.0", NEG),
        column_sums(PRODUCT, "1.0", NEG),
        column_sums(PRODUCT, "0.0", squared),
    ];
    for c in &all {
        assert_eq!(reduces(c), 1, "{}", c.text());
        c.agrees(&[floats(&[3, 4]), floats(&[4, 2])]);
    }
}

#[test]
fn sums_of_several_products_change_places_if_it_pays_for_each() {
    let c = column_sums(PRODUCTS, "0.0", NEG);
    assert!(!c.text().contains("Array2<f64> = reduce"), "{}", c.text());
    assert_eq!(c.text().matches("Array1<f64> = reduce").count(), 3, "{}", c.text());
    assert!(c.agrees(&[floats(&[3, 4]), floats(&[4, 2])]));
    // The first product is subtracted, too.
    let c = column_sums(
        &PRODUCTS.replace("x9: f64 = x5 - x8 -> x9", "x9: f64 = neg x5; x10: f64 = x9 - x8 -> x10"),
        "0.0",
        NEG,
    );
    assert!(c.agrees(&[floats(&[3, 4]), floats(&[4, 2])]));
    // The second product depends on all indices.
    let other = PRODUCTS.replace("x7: f64 = x4 * x4;", "x7: f64 = a0[x0, x1] @0;");
    let c = column_sums(&other, "0.0", NEG);
    assert!(c.text().contains("a2: Array2<f64> = reduce"), "{}", c.text());
    assert!(c.agrees(&[floats(&[3, 4]), floats(&[4, 2])]));
}

#[test]
fn sums_that_are_needed_for_something_else_stay() {
    let c = optimized(
        "a0: Array2<f64>, a1: Array2<f64>",
        "a2: Array2<f64> = reduce @0 sum extents () { x0: i64 = extent a0 0; x1: i64 = extent a1 1 -> x0, x1 }
           len () { x0: i64 = extent a0 1 -> x0 }
           element (x0: i64, x1: i64, x2: i64) { x3: f64 = a0[x0, x2] @0; x4: f64 = a1[x2, x1] @0; x5: f64 = x3 * x4 -> x5 }
           init () { x0: f64 = 0.0 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         a3: Array1<f64> = reduce @0 sum extents () { x0: i64 = extent a1 1 -> x0 }
           len () { x0: i64 = extent a0 0 -> x0 }
           element (x0: i64, x1: i64) { x2: f64 = a2[x1, x0] @0 inside -> x2 }
           init () { x0: f64 = 0.0 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a2, a3",
    );
    assert!(c.text().contains("a2: Array2<f64> = reduce"));
    assert!(c.agrees(&[floats(&[3, 4]), floats(&[4, 2])]));
}

#[test]
fn sums_of_rows_and_of_columns_both_change_places() {
    let sums = |to: usize, extent: &str, len: &str, index: &str| {
        format!(
            "a{to}: Array1<f64> = reduce @0 sum extents () {{ x0: i64 = extent {extent} -> x0 }}
               len () {{ x0: i64 = extent {len} -> x0 }}
               element (x0: i64, x1: i64) {{ x2: f64 = a2[{index}] @0 inside -> x2 }}
               init () {{ x0: f64 = 0.0 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}\n"
        )
    };
    let c = optimized(
        "a0: Array2<f64>, a1: Array2<f64>",
        &format!(
            "a2: Array2<f64> = reduce @0 sum extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 1 -> x0, x1 }}
               len () {{ x0: i64 = extent a0 1 -> x0 }}
               element (x0: i64, x1: i64, x2: i64) {{ {PRODUCT} }}
               init () {{ x0: f64 = 0.0 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
             {}{} -> a3, a4",
            sums(3, "a1 1", "a0 0", "x1, x0"),
            sums(4, "a0 0", "a1 1", "x0, x1"),
        ),
    );
    assert!(!c.text().contains("Array2"), "{}", c.text());
    assert!(c.agrees(&[floats(&[3, 4]), floats(&[4, 2])]) && !c.agrees(&[floats(&[3, 4]), floats(&[4, 0])]));
}
