//! Twenty small programs: each kind of statement, with the elements, operators and extents that make a difference to the code.

use crate::assert_snapshot;
use crate::code;

/// The code of a program of one site.
fn golden(inputs: &str, body: &str) -> String {
    code(&format!("program ({inputs})\nsite 0 = \"here\"\n{{\n{body}\n}}"))
}

#[test]
fn a_map_with_functions_of_vectors() {
    assert_snapshot!(golden(
        "a0: Array1<f64>",
        "a1: Array1<f64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1; x3: f64 = sin x2; x4: f64 = tanh x3 -> x4 }
         -> a1",
    ));
}

#[test]
fn a_zip_of_two_vectors() {
    assert_snapshot!(golden(
        "a0: Array1<f32>, a1: Array1<f32>",
        "a2: Array1<f32> = loop @0
           extents () { x0: i64 = extent a0 0; x1: i64 = extent a1 0; x2: i64 = min x0 x1 -> x2 }
           body (x0: i64) { x1: f32 = a0[x0] @0 inside; x2: f32 = a1[x0] @0 inside; x3: f32 = x1 * x2; x4: f32 = max x3 x1 -> x4 }
         -> a2",
    ));
}

#[test]
fn integers_that_divide_and_shift() {
    assert_snapshot!(golden(
        "a0: Array1<i32>",
        "a1: Array1<i32> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) {
             x1: i32 = a0[x0] @0 inside; x2: i32 = x1 + x1; x3: i32 = x2 / x1; x4: i32 = rem_euclid x3 x1; x5: i32 = x4 << x1
             x6: i32 = x5 ^ x1 -> x6 }
         -> a1",
    ));
}

#[test]
fn small_numbers_and_conversions() {
    assert_snapshot!(golden(
        "a0: Array1<u8, i16>",
        "a1: Array1<u8>, a2: Array1<f32> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) {
             x1: u8, x2: i16 = a0[x0] @0 inside; x3: u8 = as u8 x2; x4: u8 = x1 * x3; x5: f32 = as f32 x2; x6: f32 = sqrt x5
             -> x4, x6 }
         -> a1, a2",
    ));
}

#[test]
fn three_dimensions() {
    assert_snapshot!(golden(
        "a0: Array3<f64>",
        "a1: Array3<f64> = loop @0
           extents () { x0: i64 = extent a0 2; x1: i64 = extent a0 0; x2: i64 = extent a0 1 -> x0, x1, x2 }
           body (x0: i64, x1: i64, x2: i64) { x3: f64 = a0[x1, x2, x0] @0 inside -> x3 }
         -> a1",
    ));
}

#[test]
fn a_single_element() {
    assert_snapshot!(golden(
        "a0: Array0<f64>, a1: Array1<f64>",
        "a2: Array0<f64> = loop @0
           extents () { -> }
           body () { x0: f64 = a0[] @0 inside; x1: i64 = 2; x2: f64 = a1[x1] @0; x3: f64 = x0 - x2 -> x3 }
         -> a2",
    ));
}

#[test]
fn a_loop_in_scalar_code() {
    assert_snapshot!(golden(
        "a0: Array1<i64>",
        "a1: Array1<i64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) {
             x1: i64 = a0[x0] @0 inside
             x2: i64, x3: i64 = while x1, x0 cond { x4: i64 = 1; x5: bool = x2 > x4 -> x5 }
               body { x6: i64 = 2; x7: i64 = x2 / x6; x8: i64 = x3 + x7 -> x7, x8 }
             -> x3 }
         -> a1",
    ));
}

#[test]
fn sums_of_rows() {
    assert_snapshot!(golden(
        "a0: Array2<f64>",
        "a1: Array1<f64> = reduce @0 sum
           extents () { x0: i64 = extent a0 0 -> x0 }
           len () { x0: i64 = extent a0 1 -> x0 }
           element (x0: i64, x1: i64) { x2: f64 = a0[x0, x1] @0 inside; x3: f64 = x2 * x2 -> x3 }
           init () { x0: f64 = 0.0 -> x0 }
           op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a1",
    ));
}

#[test]
fn sums_of_columns() {
    assert_snapshot!(golden(
        "a0: Array2<f64>",
        "a1: Array1<f64> = reduce @0 sum
           extents () { x0: i64 = extent a0 1 -> x0 }
           len () { x0: i64 = extent a0 0 -> x0 }
           element (x0: i64, x1: i64) { x2: f64 = a0[x1, x0] @0 inside -> x2 }
           init () { x0: f64 = 0.0 -> x0 }
           op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a1",
    ));
}

#[test]
fn a_maximum_of_something() {
    assert_snapshot!(golden(
        "a0: Array1<f32>",
        "a1: Array0<f32> = reduce @0 max
           extents () { -> }
           len () { x0: i64 = extent a0 0 -> x0 }
           element (x0: i64) { x1: f32 = a0[x0] @0 inside -> x1 }
           op (x0: f32, x1: f32) { x2: f32 = max x0 x1 -> x2 }
         -> a1",
    ));
}

#[test]
fn the_place_of_a_maximum() {
    assert_snapshot!(golden(
        "a0: Array1<f64>",
        "a1: Array0<f64, i64> = reduce @0
           extents () { -> }
           len () { x0: i64 = extent a0 0 -> x0 }
           element (x0: i64) { x1: f64 = a0[x0] @0 inside -> x1, x0 }
           op (x0: f64, x1: i64, x2: f64, x3: i64) {
             x4: bool = x0 < x2
             x5: f64, x6: i64 = if x4 { -> x2, x3 } else { -> x0, x1 }
             -> x5, x6 }
         -> a1",
    ));
}

#[test]
fn an_operator_that_may_fail() {
    assert_snapshot!(golden(
        "a0: Array2<i64>",
        "a1: Array1<i64> = reduce @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           len () { x0: i64 = extent a0 1 -> x0 }
           element (x0: i64, x1: i64) { x2: i64 = a0[x0, x1] @0 inside -> x2 }
           init () { x0: i64 = 100 -> x0 }
           op (x0: i64, x1: i64) { x2: i64 = x0 / x1 -> x2 }
         -> a1",
    ));
}

#[test]
fn a_product_of_matrices() {
    assert_snapshot!(golden(
        "a0: Array2<f64>, a1: Array2<f64>",
        "a2: Array2<f64> = reduce @0 sum
           extents () { x0: i64 = extent a0 0; x1: i64 = extent a1 1 -> x0, x1 }
           len () { x0: i64 = extent a0 1 -> x0 }
           element (x0: i64, x1: i64, x2: i64) {
             x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x2, x1] @0 inside; x5: f64 = x3 * x4 -> x5 }
           init () { x0: f64 = 0.0 -> x0 }
           op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a2",
    ));
}

#[test]
fn prefix_sums() {
    assert_snapshot!(golden(
        "a0: Array1<f64>",
        "a1: Array1<f64> = scan @0 sum
           extents () { -> }
           len () { x0: i64 = extent a0 0 -> x0 }
           element (x0: i64) { x1: f64 = a0[x0] @0 inside -> x1 }
           op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a1",
    ));
}

#[test]
fn a_scan_of_pairs_with_a_first_value() {
    assert_snapshot!(golden(
        "a0: Array2<f64>",
        "a1: Array2<f64, i64> = scan @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           len () { x0: i64 = extent a0 1 -> x0 }
           element (x0: i64, x1: i64) { x2: f64 = a0[x0, x1] @0 inside -> x2, x1 }
           init () { x0: f64 = 1.0; x1: i64 = 0 -> x0, x1 }
           op (x0: f64, x1: i64, x2: f64, x3: i64) { x4: f64 = x0 * x2; x5: i64 = max x1 x3 -> x4, x5 }
         -> a1",
    ));
}

#[test]
fn a_histogram() {
    assert_snapshot!(golden(
        "a0: Array1<i64>, a1: Array1<i64>",
        "a2: Array1<i64> = permute a1 @0 sum
           extents () { x0: i64 = extent a0 0 -> x0 }
           target (x0: i64) { x1: bool = true; x2: i64 = a0[x0] @0 inside -> x1, x2 }
           element (x0: i64) { x1: i64 = 1 -> x1 }
           comb (x0: i64, x1: i64) { x2: i64 = x0 + x1 -> x2 }
         -> a2",
    ));
}

#[test]
fn a_scatter_of_some_elements_into_a_matrix() {
    assert_snapshot!(golden(
        "a0: Array1<f64>, a1: Array2<f64>",
        "a2: Array2<f64> = permute a1 @0 max
           extents () { x0: i64 = extent a0 0 -> x0 }
           target (x0: i64) { x1: i64 = 3; x2: i64 = x0 % x1; x3: i64 = x0 / x1; x4: bool = x2 != x3 -> x4, x2, x3 }
           element (x0: i64) { x1: f64 = a0[x0] @0 inside -> x1 }
           comb (x0: f64, x1: f64) { x2: f64 = max x0 x1 -> x2 }
         -> a2",
    ));
}

#[test]
fn a_reshape_and_a_literal() {
    assert_snapshot!(code(
        "program (a0: Array2<f64>)
site 0 = \"here\"
literal 0 = [2] f64 { 1.5 -inf }
{
  a1: Array1<f64> = literal 0 @0
  a2: Array1<f64> = reshape a0 @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1; x2: i64 = x0 * x1 -> x2 }
  a3: Array1<f64> = loop @0
    extents () { x0: i64 = extent a2 0 -> x0 }
    body (x0: i64) { x1: f64 = a2[x0] @0 inside; x2: i64 = 0; x3: f64 = a1[x2] @0; x4: f64 = x1 + x3 -> x4 }
  -> a3, a2
}"
    ));
}

#[test]
fn a_choice_between_arrays() {
    assert_snapshot!(golden(
        "a0: Array1<f64>, a1: Array0<bool>",
        "a2: Array1<f64> = if @0
           cond () { x0: bool = a1[] @0 inside -> x0 }
           then {
             a3: Array1<f64> = loop @0
               extents () { x0: i64 = extent a0 0 -> x0 }
               body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = neg x1 -> x2 }
             -> a3
           }
           else {
             -> a0
           }
         -> a2",
    ));
}

#[test]
fn a_strip() {
    assert_snapshot!(golden(
        "a0: Array2<f64>",
        "a2: Array1<f64> = strip @0
           len () { x0: i64 = extent a0 0 -> x0 }
           body {
             a1: Array2<f64> = loop @0
               extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
               body (x0: i64, x1: i64) { x2: f64 = a0[x0, x1] @0 inside; x3: f64 = exp x2 -> x3 }
             a2: Array1<f64> = reduce @0 sum
               extents () { x0: i64 = extent a0 0 -> x0 }
               len () { x0: i64 = extent a0 1 -> x0 }
               element (x0: i64, x1: i64) { x2: f64 = a1[x0, x1] @0 inside -> x2 }
               init () { x0: f64 = 0.0 -> x0 }
               op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
             -> a2
           }
         -> a2",
    ));
}
