//! Strided products: what becomes one, and what that saves.

use super::*;
use accel_fusion::kernel::{Op, Role};
use accel_fusion::optimize::StridedProduct;

/// The products of the first reduction of a program.
fn found(c: &Case) -> Option<StridedProduct> {
    c.with_assumptions.program.body.walk().find_map(|s| match &s.op {
        Op::Reduce { extents, rows, .. } => StridedProduct::of_rows(extents.results.len(), rows),
        _ => None,
    })
}

/// The sum over `t` and then over `c` of `image[i + t, c] * weights[t, c, o]`, in two reductions.
const TWO_SUMS: &str = "a2: Array3<f64> = reduce @0 sum
      extents () { x0: i64 = extent a0 0; x1: i64 = 2; x2: i64 = x0 - x1; x3: i64 = extent a1 2; x4: i64 = 3 -> x2, x3, x4 }
      len () { x0: i64 = extent a0 1 -> x0 }
      element (x0: i64, x1: i64, x2: i64, x3: i64) {
        x4: i64 = x0 + x2; x5: f64 = a0[x4, x3] @0; x6: f64 = a1[x2, x3, x1] @0; x7: f64 = x5 * x6 -> x7 }
      init () { x0: f64 = 0.0 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    a3: Array2<f64> = reduce @0 sum
      extents () { x0: i64 = extent a0 0; x1: i64 = 2; x2: i64 = x0 - x1; x3: i64 = extent a1 2 -> x2, x3 }
      len () { x0: i64 = 3 -> x0 }
      element (x0: i64, x1: i64, x2: i64) { x3: f64 = a2[x0, x1, x2] @0 inside -> x3 }
      init () { x0: f64 = 0.0 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
    -> a3";

#[test]
fn sums_of_sums_of_products_are_one_sum() {
    let c = optimized_for(Target::Processor, "a0: Array2<f64>, a1: Array3<f64>", TWO_SUMS);
    assert_eq!(c.text().matches("reduce").count(), 1, "{}", c.text());
    let roles: Vec<Role> = found(&c).expect("a product").digits.iter().map(|d| d.role).collect();
    // The position, the channel of the result, and the two digits of what is summed.
    assert_eq!(roles, [Role::Row, Role::Column, Role::Reduced, Role::Reduced]);
    for (n, channels, outputs) in [(5, 2, 4), (3, 1, 1), (4, 3, 2)] {
        assert!(c.agrees(&[floats(&[n, channels]), floats(&[3, channels, outputs])]));
    }
    assert!(!c.agrees(&[floats(&[5, 2]), floats(&[2, 2, 4])]));
    // Other targets have no products with strides.
    let other = optimized("a0: Array2<f64>, a1: Array3<f64>", TWO_SUMS);
    assert_eq!(other.text().matches("reduce").count(), 2, "{}", other.text());
}

/// The product of a matrix of patches, three elements of `a0` for each place, with a matrix.
fn patches(place: &str) -> Case {
    let body = format!(
        "a2: Array2<f64> = loop @0
           extents () {{ x0: i64 = extent a0 0; x1: i64 = 2; x2: i64 = x0 - x1; x3: i64 = 3; x4: i64 = extent a0 1;
             x5: i64 = x3 * x4 -> x2, x5 }}
           body (x0: i64, x1: i64) {{ x2: i64 = extent a0 1; x3: i64 = x1 / x2; x4: i64 = x1 % x2; x5: i64 = x0 + x3; {place} }}
         a3: Array2<f64> = reduce @0 sum
           extents () {{ x0: i64 = extent a2 0; x1: i64 = extent a1 1 -> x0, x1 }}
           len () {{ x0: i64 = extent a2 1 -> x0 }}
           element (x0: i64, x1: i64, x2: i64) {{ x3: f64 = a2[x0, x2] @0 inside; x4: f64 = a1[x2, x1] @0; x5: f64 = x3 * x4 -> x5 }}
           init () {{ x0: f64 = 0.0 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
         -> a3"
    );
    optimized_for(Target::Processor, "a0: Array2<f64>, a1: Array2<f64>", &body)
}

#[test]
fn matrices_of_patches_are_not_stored() {
    let c = patches("x6: f64 = a0[x5, x4] @0 -> x6");
    assert!(!c.text().contains("loop"), "{}", c.text());
    assert_eq!(found(&c).expect("a product").digits.len(), 4);
    for (n, channels, outputs) in [(5, 2, 4), (3, 1, 1)] {
        assert!(c.agrees(&[floats(&[n, channels]), floats(&[3 * channels, outputs])]));
    }
    // No extent at all: nothing is divided by 0.
    c.agrees(&[floats(&[5, 0]), floats(&[0, 4])]);
    // Elements that are computed are stored.
    let c = patches("x6: f64 = a0[x5, x4] @0; x7: f64 = exp x6 -> x7");
    assert!(c.text().contains("loop"), "{}", c.text());
}

#[test]
fn adjoints_of_patches_are_not_stored() {
    // The sum over `o` of `a0[p, o] * a1[q, o]`, added to element `p + q / n, q % n` of `a2`.
    let c = optimized_for(
        Target::Processor,
        "a0: Array2<f64>, a1: Array2<f64>, a2: Array2<f64>",
        "a3: Array2<f64> = reduce @0 sum extents () { x0: i64 = extent a0 0; x1: i64 = extent a1 0 -> x0, x1 }
           len () { x0: i64 = extent a0 1 -> x0 }
           element (x0: i64, x1: i64, x2: i64) { x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x1, x2] @0; x5: f64 = x3 * x4 -> x5 }
           init () { x0: f64 = 0.0 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         a4: Array2<f64> = permute a2 @0 sum extents () { x0: i64 = extent a3 0; x1: i64 = extent a3 1 -> x0, x1 }
           target (x0: i64, x1: i64) { x2: bool = true; x3: i64 = extent a2 1; x4: i64 = x1 / x3; x5: i64 = x1 % x3;
             x6: i64 = x0 + x4 -> x2, x6, x5 }
           element (x0: i64, x1: i64) { x2: f64 = a3[x0, x1] @0 inside -> x2 }
           comb (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a4",
    );
    assert!(!c.text().contains("reduce"), "{}", c.text());
    assert!(c.agrees(&[floats(&[4, 3]), floats(&[6, 3]), floats(&[6, 2])]));
    // A target out of bounds.
    assert!(c.agrees(&[floats(&[4, 3]), floats(&[6, 3]), floats(&[5, 2])]));
}

/// `a3 = Σ a0[p / 4, p % 4 + 0, c] * a1[c, o] + Σ a0[p / 4, p % 4 + shift, c] * a2[c, o]`
fn two_products(c: &str) -> Case {
    let sum = |to: usize, shift: usize, weights: usize, len: &str| {
        format!(
            "a{to}: Array2<f64> = reduce @0 sum
               extents () {{ x0: i64 = extent a0 0; x1: i64 = 4; x2: i64 = x0 * x1; x3: i64 = extent a1 1 -> x2, x3 }}
               len () {{ {len} }}
               element (x0: i64, x1: i64, x2: i64) {{ x3: i64 = 4; x4: i64 = x0 / x3; x5: i64 = x0 % x3; x6: i64 = {shift};
                 x7: i64 = x5 + x6; x8: f64 = a0[x4, x7, x2] @0; x9: f64 = a{weights}[x2, x1] @0; x10: f64 = x8 * x9 -> x10 }}
               init () {{ x0: f64 = 0.0 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}\n"
        )
    };
    let all = "x0: i64 = extent a0 2 -> x0";
    let body = format!(
        "{}{} a5: Array2<f64> = loop @0
           extents () {{ x0: i64 = extent a3 0; x1: i64 = extent a3 1 -> x0, x1 }}
           body (x0: i64, x1: i64) {{ x2: f64 = a3[x0, x1] @0 inside; x3: f64 = a4[x0, x1] @0 inside; x4: f64 = x2 + x3 -> x4 }}
         -> a5",
        sum(3, 0, 1, all),
        sum(4, 1, 2, c)
    );
    optimized_for(Target::Processor, "a0: Array3<f64>, a1: Array2<f64>, a2: Array2<f64>", &body)
}

#[test]
fn sums_of_products_are_one_reduction() {
    let c = two_products("x0: i64 = extent a0 2 -> x0");
    assert!(!c.text().contains("loop"), "{}", c.text());
    assert_eq!(c.text().matches("reduce").count(), 1, "{}", c.text());
    assert!(c.agrees(&[floats(&[2, 5, 3]), floats(&[3, 4]), floats(&[3, 4])]));
    assert!(!c.agrees(&[floats(&[2, 4, 3]), floats(&[3, 4]), floats(&[3, 4])]));
    // Another length.
    let c = two_products("x0: i64 = 2 -> x0");
    assert_eq!(c.text().matches("reduce").count(), 2, "{}", c.text());
    assert!(c.agrees(&[floats(&[2, 5, 3]), floats(&[3, 4]), floats(&[3, 4])]));
}

/// All elements of a matrix, read in the order of a vector, are read once: its statement is computed where it is read.
#[test]
fn the_digits_of_an_index_determine_it() {
    let flat = |divisor: &str| {
        optimized(
            "a0: Array2<f64>",
            &format!(
                "a1: Array2<f64> = loop @0 extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }}
                   body (x0: i64, x1: i64) {{ x2: f64 = a0[x0, x1] @0; x3: f64 = exp x2 -> x3 }}
                 a2: Array1<f64> = loop @0
                   extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1; x2: i64 = x0 * x1 -> x2 }}
                   body (x0: i64) {{ x1: i64 = extent a0 1; x2: i64 = {divisor}; x3: i64 = x0 / x1; x4: i64 = x0 % x2;
                     x5: f64 = a1[x3, x4] @0 -> x5 }}
                 -> a2"
            ),
        )
    };
    let c = flat("extent a0 1");
    assert_eq!(c.text().matches("loop").count(), 1, "{}", c.text());
    c.agrees(&[array(&[2, 3], vec![0.0; 6])]);
    let c = flat("1");
    assert_eq!(c.text().matches("loop").count(), 2, "{}", c.text());
}
