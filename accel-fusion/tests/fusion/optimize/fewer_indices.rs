//! Terms that count, and values that depend on fewer indices than the statement that needs them.

use super::*;

/// The sums `Σ_k element(i, j, k)` of all i and j, where k is an index of the columns of `a1`.
fn sums(extents: &str, element: &str) -> Case {
    let body = format!(
        "a2: Array2<f64> = reduce @0 sum
           extents () {{ {extents} }}
           len () {{ x0: i64 = extent a1 1 -> x0 }}
           element (x0: i64, x1: i64, x2: i64) {{ {element} }}
           init () {{ x0: f64 = 0.0 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
         -> a2"
    );
    optimized_for(Target::Processor, "a0: Array2<f64>, a1: Array2<f64>", &body)
}

const UNIT: &str = "x3: bool = x2 == x0; x6: f64 = if x3 { x4: f64 = 1.0 -> x4 } else { x5: f64 = 0.0 -> x5 };
    x7: f64 = a1[x1, x2] @0; x8: f64 = strong_mul x7 x6 -> x8";

#[test]
fn the_selected_term_of_a_sum_is_the_sum() {
    let square = "x0: i64 = extent a1 1; x1: i64 = extent a1 0 -> x0, x1";
    let all = sums(square, UNIT);
    assert!(!all.text().contains("reduce"), "{}", all.text());
    // An infinite number that no unit vector selects counts nothing.
    let infinite = array(&[2, 3], vec![1.0, f64::INFINITY, -0.0, f64::NAN, 5.0, 6.0]);
    for a1 in [floats(&[4, 3]), floats(&[0, 3]), floats(&[3, 0]), infinite] {
        assert!(all.agrees(&[floats(&[1, 1]), a1]));
    }
    // There may be more or fewer unit vectors than columns.
    let others = sums("x0: i64 = extent a0 0; x1: i64 = extent a1 0 -> x0, x1", UNIT);
    assert!(!others.text().contains("reduce"), "{}", others.text());
    for (n, m, k) in [(2, 3, 4), (5, 2, 3), (0, 1, 1), (2, 2, 0)] {
        others.agrees(&[floats(&[n, 1]), floats(&[m, k])]);
    }
    // An ordinary product with 0 may be no number.
    let ordinary = sums(square, &UNIT.replace("strong_mul x7 x6", "x7 * x6"));
    assert!(ordinary.text().contains("reduce"), "{}", ordinary.text());
}

#[test]
fn a_sum_of_zeros_is_zero() {
    let c = sums("x0: i64 = extent a0 0; x1: i64 = extent a1 0 -> x0, x1", "x3: f64 = -0.0 -> x3");
    assert!(!c.text().contains("reduce"), "{}", c.text());
    assert!(c.agrees(&[floats(&[2, 2]), floats(&[3, 4])]));
}

#[test]
fn products_of_matrices_do_not_hide_behind_zeros() {
    let extents = "x0: i64 = extent a0 0; x1: i64 = extent a1 0 -> x0, x1";
    let element = "x3: f64 = 0.0; x4: f64 = a0[x0, x2] @0; x5: f64 = x3 + x4; x6: f64 = a1[x1, x2] @0;
        x7: f64 = x5 * x6; x8: f64 = x3 + x7 -> x8";
    let c = sums(extents, element);
    assert!(!c.text().contains("+ x3") && !c.text().contains("x3 +"), "{}", c.text());
    assert!(c.agrees(&[array(&[2, 2], vec![-0.0, 1.0, -1.0, -0.0]), array(&[1, 2], vec![-1.0, -0.0])]));
    // Here the sign of a zero is the sign of an infinite number.
    let divided = element.replace("x7: f64 = x5 * x6", "x9: f64 = 1.0; x10: f64 = x9 / x5; x7: f64 = x10 * x6");
    let c = sums(extents, &divided);
    assert!(c.agrees(&[array(&[2, 2], vec![-0.0, 1.0, -1.0, -0.0]), array(&[1, 2], vec![-1.0, -0.5])]));
}

#[test]
fn operands_of_products_are_computed_before_them() {
    let extents = "x0: i64 = extent a1 0 -> x0, x0";
    let element = "x3: i64 = 0; x4: f64 = a0[x3, x2] @0; x5: f64 = a1[x0, x2] @0; x6: f64 = a1[x1, x2] @0;
        x7: f64 = x4 + x4; x8: f64 = x7 * x5; x9: f64 = x8 * x6 -> x9";
    let c = sums(extents, element);
    let text = c.text();
    let product = text.split("reduce").nth(1).expect("a sum");
    assert!(!product.contains(" + x4") && product.matches(" * ").count() == 1, "{text}");
    assert!(c.agrees(&[floats(&[1, 5]), floats(&[3, 5])]));
    c.agrees(&[floats(&[0, 5]), floats(&[3, 5])]);
    c.agrees(&[floats(&[1, 0]), floats(&[3, 0])]);
}

#[test]
fn functions_of_fewer_indices_are_called_as_often() {
    // exp(a0[j]) * a1[i, j], and what else depends on the same call.
    let c = optimized_for(
        Target::Processor,
        "a0: Array1<f64>, a1: Array2<f64>",
        "a2: Array2<f64> = loop @0
           extents () { x0: i64 = extent a1 0; x1: i64 = extent a1 1 -> x0, x1 }
           body (x0: i64, x1: i64) {
             x2: f64 = a0[x1] @0; x3: f64 = exp x2; x4: f64 = 1.0; x5: f64 = x4 + x3; x6: f64 = x3 / x5
             x7: f64 = a1[x0, x1] @0; x8: f64 = x6 * x7; x9: f64 = sin x7; x10: f64 = x8 + x9 -> x10
           }
         -> a2",
    );
    let text = c.text();
    assert!(text.contains("Array1<f64> = loop"), "{text}");
    assert!(c.agrees(&[floats(&[4]), floats(&[3, 4])]));
    // Without elements, nothing is read.
    c.agrees(&[floats(&[2]), floats(&[0, 4])]);
    c.agrees(&[floats(&[2]), floats(&[2, 4])]);
}
