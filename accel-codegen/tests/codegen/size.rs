//! The size of generated code.

use accel_codegen::{Options, emit};
use accel_fusion::kernel::{Verified, parse};

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
    let module = emit(&parse(&text).and_then(Verified::new).unwrap(), Options::default());
    let longest = module.source.split("\n}\n").map(|f| f.lines().count()).max();
    assert!(longest.unwrap() < 1000, "{longest:?}");
}
