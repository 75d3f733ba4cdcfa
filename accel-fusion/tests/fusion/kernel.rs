//! Kernel programs: their textual form, the verifier, the evaluator, and lowering.

mod agree;
mod checks;
mod eval;
mod scale;
mod stats;
mod strip;
mod text;
mod verify;

use accel_fusion::kernel::{Program, parse};

/// Parses a program.
fn program(text: &str) -> Program {
    parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A program with every kind of statement and of instruction, in its printed form.
const EVERYTHING: &str = r#"program (a0: Array2<f64>, a1: Array1<f64, i64>)
site 0 = "generate"
site 1 = "fold"
site 2 = "say \"index\""
literal 0 = [2] f32 { 1.5 -inf } bool { true false }
literal 1 = [0, 3] u8 { }
literal 2 = []
unset a12: Array3<i8>
{
  a2: Array1<f32, bool> = literal 0 @0
  a3: Array2<f64>, a4: Array2<i64> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    body (x0: i64, x1: i64) {
      x2: f64 = a0[x0, x1] @2 inside
      x3: f64 = sin x2
      x4: f64 = x2 * x3
      x5: bool = x4 < x2
      x6: f64, x7: i64 = if x5 {
        x8: f64, x9: i64 = a1[x0] @2
        -> x8, x9
      } else {
        -> x2, x0
      }
      x10: i64, x11: i64 = while x0, x7 cond {
        x12: i64 = 10
        x13: bool = x10 < x12
        -> x13
      } body {
        x14: i64 = 1
        x15: i64 = x10 + x14
        x16: i64 = max x11 x15
        -> x15, x16
      }
      -> x6, x11
    }
  a5: Array1<f64> = reduce @1 sum
    extents () { x0: i64 = extent a3 0 -> x0 }
    len () { x0: i64 = extent a3 1 -> x0 }
    element (x0: i64, x1: i64) { x2: f64 = a3[x0, x1] @1 inside -> x2 }
    init () { x0: f64 = 0.0 -> x0 }
    op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
  a6: Array1<i64> = scan @1 reverse
    extents () { -> }
    len () { x0: i64 = 3 -> x0 }
    element (x0: i64) { -> x0 }
    op (x0: i64, x1: i64) { x2: i64 = x0 - x1 -> x2 }
  a7: Array1<f64> = permute a5 @1 max
    extents () { x0: i64 = extent a5 0 -> x0 }
    target (x0: i64) { x1: bool = true -> x1, x0 }
    element (x0: i64) { x1: f64 = a5[x0] @1 -> x1 }
    comb (x0: f64, x1: f64) { x2: f64 = max x0 x1 -> x2 }
  a8: Array2<f64> = reshape a7 @0
    extents () { x0: i64 = 1; x1: i64 = extent a7 0 -> x0, x1 }
  a9: Array2<f64> = if @0
    cond () { x0: i64 = extent a8 1; x1: i64 = 2; x2: bool = x0 > x1 -> x2 }
    then {
      -> a8
    }
    else {
      -> a3
    }
  a13: Array1<i64>, a14: Array1<f64>, a15: Array2<f64> = accumulate a7, a3 @0
    extents () { x0: i64 = extent a7 0 -> x0 }
    body (x0: i64) {
      x1: f64 = a3[x0, x0] @2
      () = emit a14[x0] x1 @2 inside
      x2: bool = x1 < x1
      () = if x2 {
        () = emit a15[x0, x0] x1 @2
        ->
      } else {
        ->
      }
      -> x0
    }
  a16: Array0<f64> = accumulate () @0
    extents () { -> }
    body () { x0: f64 = 1.0 -> x0 }
  a10: Array2<f64> = while a9 @0
    cond {
      a11: Array0<bool> = loop @0
        extents () { -> }
        body () { x0: bool = false -> x0 }
      -> a11
    }
    body {
      -> a10
    }
  a17: Array0<i64> = loop @0
    extents () { -> }
    body () { x0: i64 = 4 -> x0 }
  a18: Array2<f64>, a19: Array1<i64> = times a17 right a10 @0 row a20: Array0<i64>
    body {
      -> a18, a20
    }
  a21: Array1<i64> = while () @0 row a22: Array0<i64>
    cond {
      a23: Array0<bool> = loop @0
        extents () { -> }
        body () { x0: bool = false -> x0 }
      -> a23
    }
    body {
      -> a22
    }
  () = times a17 () @0
    body {
      ->
    }
  () = loop @0
    extents () { -> }
    body () {
      unset x0: u16
      () = if x0 {
        ->
      } else {
        ->
      }
      ->
    }
  -> a10, a6, a7
}"#;
