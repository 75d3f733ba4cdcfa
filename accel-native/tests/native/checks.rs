//! Checked proofs: if a proof is wrong, the run ends with an error that says so and names the place.

use crate::support::{array, numbers};
use accel_codegen::{Options, emit};
use accel_core::error::Error;
use accel_core::repr::{ArrayTuple, RawArray};
use accel_fusion::kernel::{Program, Verified, parse};
use accel_fusion::pipeline::{self, Pipeline, Target, with_checked_proofs};
use accel_native::{Kernels, Native};

/// A program on a vector and a matrix, in which the reads of site 1 are marked as proved.
fn with_proofs(body: &str) -> Verified<Program> {
    let text = format!(
        "program (a0: Array1<f64>, a1: Array2<f64>)\nsite 0 = \"map\"\nsite 1 = \"index\" proved\n{{\n{body}\n  -> a9\n}}"
    );
    // Arrays are numbered without gaps.
    let text = text.replace("a9", if text.contains("a2:") { "a3" } else { "a2" });
    parse(&text).and_then(Verified::new).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Sets `x{k}` to the element after the one at `x0`; for the last one there is none. `x{k - 2}` and `x{k - 1}` are
/// free.
fn beyond(k: usize) -> String {
    let (one, next) = (k - 2, k - 1);
    format!("x{one}: i64 = 1; x{next}: i64 = x0 + x{one}; x{k}: f64 = a0[x{next}] @1")
}

/// Sets `x{k}` to the element after the end of a row; `x{k - 1}` is free.
fn beyond_row(k: usize) -> String {
    format!("x{0}: i64 = extent a1 1; x{k}: f64 = a1[x0, x{0}] @1", k - 1)
}

const EXTENT: &str = "extents () { x0: i64 = extent a0 0 -> x0 }";
const LEN: &str = "len () { x0: i64 = extent a0 0 -> x0 }";
const SUM: &str = "init () { x0: f64 = 0.0 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }";
const COMB: &str = "comb (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }";

fn statements() -> Vec<String> {
    let loop_ = |code: &str| format!("a9: Array1<f64> = loop @0 {EXTENT} body (x0: i64) {{ {code} }}");
    let (at_1, at_2, at_3) = (beyond(3), beyond(4), beyond(5));
    vec![
        loop_(&format!("{at_1} -> x3")),
        loop_(&format!("{} -> x2", beyond_row(2))),
        loop_(&format!("x1: bool = true; x2: f64 = if x1 {{ {at_3} -> x5 }} else {{ x6: f64 = 0.0 -> x6 }} -> x2")),
        loop_(&format!(
            "x1: bool = true; x2: bool = while x1 cond {{ -> x2 }} body {{ {at_3}; x6: bool = x5 < x5 -> x6 }}; x7: f64 = 0.0 -> x7"
        )),
        format!("a9: Array0<f64> = reduce @0 sum extents () {{ -> }} {LEN} element (x0: i64) {{ {at_1} -> x3 }} {SUM}"),
        format!(
            "a9: Array1<f64> = reduce @0 sum {EXTENT} {LEN} element (x0: i64, x1: i64) {{ {} -> x3 }} {SUM}",
            beyond_row(3)
        ),
        format!("a9: Array1<f64> = scan @0 extents () {{ -> }} {LEN} element (x0: i64) {{ {at_1} -> x3 }} {SUM}"),
        format!(
            "a9: Array1<f64> = permute a0 @0 sum {EXTENT} target (x0: i64) {{ x1: bool = true -> x1, x0 }}
             element (x0: i64) {{ {at_1} -> x3 }} {COMB}"
        ),
        format!(
            "a9: Array1<f64> = permute a0 @0 sum {EXTENT} target (x0: i64) {{ {at_1}; x4: bool = x3 < x3 -> x4, x0 }}
             element (x0: i64) {{ x1: f64 = 1.0 -> x1 }} {COMB}"
        ),
        // The host program computes extents.
        format!(
            "a9: Array1<f64> = loop @0 extents () {{ x0: i64 = extent a0 0; {at_1}; x4: i64 = as i64 x3 -> x4 }}
             body (x0: i64) {{ x1: f64 = 0.0 -> x1 }}"
        ),
        // Reads from the memory of a strip, and reads inside a strip from other memory.
        format!(
            "a9: Array1<f64> = strip @0 {LEN} body {{
               a2: Array2<f64> = loop @0 extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 1 -> x0, x1 }}
                 body (x0: i64, x1: i64) {{ x2: f64 = a1[x0, x1] @0 inside -> x2 }}
               a9: Array1<f64> = loop @0 {EXTENT} body (x0: i64) {{ x1: i64 = extent a2 1; x2: f64 = a2[x0, x1] @1 -> x2 }}
               -> a9 }}"
        ),
        format!(
            "a9: Array1<f64> = strip @0 {LEN} body {{
               a2: Array1<f64> = loop @0 {EXTENT} body (x0: i64) {{ {at_1} -> x3 }}
               a9: Array1<f64> = loop @0 {EXTENT} body (x0: i64) {{ x1: f64 = a2[x0] @0 inside -> x1 }}
               -> a9 }}"
        ),
        format!(
            "a9: Array0<f64> = strip @0 {LEN} body {{
               a2: Array1<f64> = loop @0 {EXTENT} body (x0: i64) {{ x1: f64 = a0[x0] @0 inside -> x1 }}
               a9: Array0<f64> = reduce @0 sum extents () {{ -> }} {LEN}
                 element (x0: i64) {{ x1: f64 = a2[x0] @0 inside; {at_2}; x5: f64 = x1 + x4 -> x5 }} {SUM}
               -> a9 }}"
        ),
    ]
}

fn inputs(n: usize) -> Vec<RawArray> {
    vec![array(&[n], numbers(n)), array(&[n, 5], numbers(n * 5))]
}

#[test]
fn a_wrong_proof_is_told_with_its_place() {
    for (k, s) in statements().iter().enumerate() {
        let p = with_proofs(s);
        let kernels = Kernels::new(p.clone()).unwrap().expect("the tests need a C compiler");
        for n in [1, 40, 100_003] {
            // In a large program, the evaluator takes too long to reach the first wrong read.
            let given = inputs(n);
            let found = kernels.run(given.clone()).err().unwrap_or_else(|| panic!("{k}: no error\n{p}")).to_string();
            let wrong = "the compiler took an index for inside that is not, please report it: `index`";
            assert!(found.contains(wrong) && found.contains("is outside the shape"), "{k}: {found}\n{p}");
            if n < 100 {
                let tuple = ArrayTuple::pair(ArrayTuple::Array(given[0].clone()), ArrayTuple::Array(given[1].clone()));
                assert_eq!(found, p.evaluate(&tuple).unwrap_err().to_string(), "{k}\n{p}");
            }
        }
    }
}

#[test]
fn the_code_is_another_one() {
    // The program with checked proofs is another one in the cache.
    let p = crate::support::program(
        "program (a0: Array1<f64>)\nsite 0 = \"map\"\n{\n  a1: Array1<f64> = loop @0 extents () { x0: i64 = extent a0 0 -> x0 }
         body (x0: i64) { x1: f64 = a0[x0] @0 inside -> x1 }\n  -> a1\n}",
    );
    let code = |p| emit(p, Options::default()).source;
    assert_ne!(code(&with_checked_proofs(&p).unwrap()), code(&p));
}

/// All passes take part: fusion, strips, matrix products, scans, gathers and scatters.
#[test]
fn what_is_checked_computes_the_same() {
    use accel_core::backend::Backend;
    use accel_core::prelude::*;
    let programs = [
        afun(|m: Acc<Matrix<f64>>| {
            let scaled = map(|x| x * x + 0.5, m);
            zip_with(|a, b| a / (b + 8.0), sum(scaled), maximum(m))
        }),
        afun(|m: Acc<Matrix<f64>>| sum(matmul(m, transpose(m)))),
        afun(|m: Acc<Matrix<f64>>| scanl(|a, b| a + b, 0.0, reverse(sum(m)))),
    ];
    let m = Array::matrix(50, 30, (0..1500).map(|i| (i % 7) as f64).collect()).unwrap().to_tuple();
    for program in programs {
        let typed = program.program().unwrap();
        let with = |check| pipeline::Options { check, strict: true, ..Default::default() };
        let run = |check| Native::with(with(check)).compile(typed).unwrap().run(&m).unwrap();
        assert_eq!(format!("{:?}", run(true)), format!("{:?}", run(false)));
        // No read is trusted.
        let checked = Pipeline::new(typed, Target::Processor, with(true)).unwrap().optimized(true).unwrap().program;
        let trusted = checked.to_string().lines().filter(|l| l.contains(" inside") && !l.contains("[] @")).count();
        assert_eq!(trusted, 0, "{checked}");
        assert!(checked.to_string().contains(" proved"), "{checked}");
    }
}

#[test]
fn other_errors_are_what_they_were() {
    let text = "program (a0: Array1<f64>)\nsite 0 = \"map\"\nsite 1 = \"index\"\n{\n  a1: Array1<f64> = loop @0 extents () { x0: i64 = extent a0 0 -> x0 }
         body (x0: i64) { x1: f64 = a0[x0] @1 inside; x2: f64 = as f64 x0; x3: i64 = as i64 x2; x4: i64 = x3 + x0; x5: f64 = a0[x4] @1; x6: f64 = x1 + x5 -> x6 }\n  -> a1\n}";
    let kernels =
        Kernels::new(with_checked_proofs(&crate::support::program(text)).unwrap()).unwrap().expect("a C compiler");
    let error = kernels.run(vec![array(&[4], numbers(4))]).unwrap_err();
    assert!(matches!(&error, Error::OutOfBounds { index, .. } if *index == [4]), "{error}");
}

/// A program with wrong marks, compiled by safe code, reads nothing outside the array.
#[test]
fn claims_of_programs_from_outside_are_not_believed() {
    let text =
        "program (a0: Array1<f64>)\nsite 0 = \"map\"\n{\n  a1: Array1<f64> = loop @0 extents () { x0: i64 = 4 -> x0 }
         body (x0: i64) { x1: i64 = 100000000; x2: i64 = x0 + x1; x3: f64 = a0[x2] @0 inside -> x3 }\n  -> a1\n}";
    let kernels = Kernels::new(crate::support::program(text)).unwrap().expect("a C compiler");
    let error = kernels.run(vec![array(&[4], numbers(4))]).unwrap_err().to_string();
    assert!(error.contains("took an index for inside that is not"), "{error}");
}
