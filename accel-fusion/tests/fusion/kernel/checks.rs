//! Checked proofs: reads that are checked although they were proved to be within bounds.

use super::program;
use accel_fusion::pipeline::with_checked_proofs;

const BEFORE: &str = r#"program (a0: Array1<f64>, a1: Array0<i64>)
site 0 = "map"
site 1 = "index"
{
  a2: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) {
      x1: f64 = a0[x0] @0 inside
      x2: i64 = a1[] @1 inside
      x3: f64 = a0[x2] @1
      x4: bool = x1 < x3
      x5: f64 = if x4 { x6: f64 = a0[x2] @1 inside -> x6 } else { -> x1 }
      x7: f64 = while x5 cond { x8: f64 = a0[x2] @1 inside; x9: bool = x7 < x8 -> x9 } body { x10: f64 = a0[x0] @0 inside -> x10 }
      -> x7
    }
  a3: Array1<f64> = strip @0
    len () { x0: i64 = extent a2 0 -> x0 }
    body {
      a3: Array1<f64> = loop @0
        extents () { x0: i64 = extent a2 0 -> x0 }
        body (x0: i64) { x1: f64 = a2[x0] @0 inside -> x1 }
      -> a3
    }
  -> a3
}"#;

#[test]
fn what_was_proved_has_a_site_of_its_own() {
    let after = with_checked_proofs(&program(BEFORE)).unwrap().to_string();
    let expected = BEFORE
        .replace("[x0] @0 inside", "[x0] @2")
        .replace("[x2] @1 inside", "[x2] @3")
        .replace("site 1 = \"index\"\n", "site 1 = \"index\"\nsite 2 = \"map\" proved\nsite 3 = \"index\" proved\n");
    assert_eq!(after, program(&expected).to_string());
    // A read of an array of rank 0 needs no check, so it stays as it was.
    assert!(after.contains("a1[] @1 inside"));
    assert_eq!(with_checked_proofs(&program(&after)).unwrap().to_string(), after);
}
