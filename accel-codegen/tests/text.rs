//! The text of generated code. `cargo insta review` shows what has changed.

#[path = "text/programs.rs"]
mod programs;

use accel_codegen::{Options, emit};
use accel_fusion::kernel::{Program, Verified, parse};
use insta::assert_snapshot;

/// The program of a text.
fn program(text: &str) -> Verified<Program> {
    parse(text).and_then(Verified::new).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The code for a program, without what is the same for all.
fn code(text: &str) -> String {
    let module = emit(&program(text), Options::default());
    let last = "callback(r, to, f, n, len, cost, extents);\n}\n";
    let start = module.source.find(last).expect("the prelude");
    module.source[start + last.len()..].to_string()
}

#[test]
fn a_loop_with_branches_and_a_checked_read() {
    assert_snapshot!(code(
        r#"program (a0: Array2<f64>, a1: Array1<i32>)
site 0 = "generate"
site 1 = "index"
{
  a2: Array2<f64> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    body (x0: i64, x1: i64) {
      x2: f64 = a0[x0, x1] @1 inside
      x3: i32 = a1[x1] @1
      x4: f64 = as f64 x3
      x5: bool = x2 < x4
      x6: f64 = if x5 { x7: f64 = exp x2 -> x7 } else { x8: f64 = min x2 x4 -> x8 }
      -> x6
    }
  -> a2
}"#
    ));
}

#[test]
fn a_sum_in_lanes() {
    assert_snapshot!(code(
        r#"program (a0: Array1<f32>)
site 0 = "fold"
{
  a1: Array0<f32> = reduce @0 sum
    extents () { -> }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64) { x1: f32 = a0[x0] @0 inside -> x1 }
    init () { x0: f32 = 0.0f32 -> x0 }
    op (x0: f32, x1: f32) { x2: f32 = x0 + x1 -> x2 }
  -> a1
}"#
    ));
}

#[test]
fn a_reverse_scan() {
    assert_snapshot!(code(
        r#"program (a0: Array2<i64>)
site 0 = "scanr1"
{
  a1: Array2<i64> = scan @0 reverse
    extents () { x0: i64 = extent a0 0 -> x0 }
    len () { x0: i64 = extent a0 1 -> x0 }
    element (x0: i64, x1: i64) { x2: i64 = a0[x0, x1] @0 inside -> x2 }
    op (x0: i64, x1: i64) { x2: i64 = x0 - x1 -> x2 }
  -> a1
}"#
    ));
}

#[test]
fn a_permutation_and_a_scalar_loop() {
    assert_snapshot!(code(
        r#"program (a0: Array1<u8>, a1: Array1<u8>)
site 0 = "permute"
{
  a2: Array1<u8> = permute a1 @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    target (x0: i64) {
      x1: i64 = while x0 cond { x2: i64 = 9; x3: bool = x1 > x2 -> x3 }
        body { x4: i64 = 2; x5: i64 = x1 / x4 -> x5 }
      x6: bool = true
      -> x6, x1
    }
    element (x0: i64) { x1: u8 = a0[x0] @0 inside -> x1 }
    comb (x0: u8, x1: u8) { x2: u8 = x0 + x1; x3: u8 = x2 / x1 -> x3 }
  -> a2
}"#
    ));
}

#[test]
fn control_flow_and_memory() {
    assert_snapshot!(code(
        r#"program (a0: Array1<f64>, a1: Array0<i64>)
site 0 = "awhile"
site 1 = "map"
{
  a2: Array1<f64>, a3: Array0<i64> = while a0, a1 @0
    cond {
      a4: Array0<bool> = loop @1
        extents () { -> }
        body () { x0: i64 = a3[] @1 inside; x1: i64 = 0; x2: bool = x0 > x1 -> x2 }
      -> a4
    }
    body {
      a5: Array1<f64> = loop @1
        extents () { x0: i64 = extent a2 0 -> x0 }
        body (x0: i64) { x1: f64 = a2[x0] @1 inside; x2: f64 = x1 + x1 -> x2 }
      a6: Array0<i64> = loop @1
        extents () { -> }
        body () { x0: i64 = a3[] @1 inside; x1: i64 = 1; x2: i64 = x0 - x1 -> x2 }
      -> a5, a6
    }
  a7: Array2<f64> = reshape a2 @0
    extents () { x0: i64 = a3[] @0; x1: i64 = 1 -> x1, x0 }
  -> a7
}"#
    ));
}

/// Compilers take more than linear time for a function.
#[test]
fn long_programs_have_functions_of_bounded_length() {
    let statement = |k: usize| {
        format!(
            "a{k}: Array1<f64> = loop @0 extents () {{ x0: i64 = 1 -> x0 }} body (x0: i64) {{ x1: f64 = {k}.0 -> x1 }}"
        )
    };
    let statements: Vec<_> = (1..=500).map(statement).collect();
    let text = format!("program (a0: Array1<f64>)\nsite 0 = \"fill\"\n{{\n{}\n  -> a500\n}}", statements.join("\n"));
    let module = emit(&program(&text), Options::default());
    let longest = module.source.split("\n}\n").map(|f| f.lines().count()).max();
    assert!(longest.unwrap() < 1000, "{longest:?}");
}

#[test]
fn a_program_of_numbers() {
    assert_snapshot!(code(
        r#"program (a0: Array0<f64>, a1: Array0<i64>)
site 0 = "zip_with"
{
  a2: Array0<f64>, a3: Array0<bool> = loop @0
    extents () { -> }
    body () {
      x0: f64 = a0[] @0 inside
      x1: i64 = a1[] @0 inside
      x2: i64 = 100
      x3: i64 = x2 / x1
      x4: f64 = as f64 x3
      x5: f64 = x0 * x4
      x6: bool = x5 < x0
      -> x5, x6
    }
  -> a3, a2, a0
}"#
    ));
}
