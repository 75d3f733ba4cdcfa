//! Statements that differ only in their arrays share kernels, and each works on its own arrays.

mod support;

use accel_codegen::{Options, emit};
use accel_core::repr::{ArrayTuple, RawArray};
use accel_fusion::kernel::evaluate;
use support::{array, compile, program};

const SITES: &str = "site 0 = \"shared\"\n";

/// A loop that combines two arrays of one type, and can overwrite either.
fn zip(to: usize, left: usize, right: usize) -> String {
    format!(
        "a{to}: Array1<i64> = loop @0 extents () {{ x0: i64 = extent a{left} 0 -> x0 }} \
         body (x0: i64) {{ x1: i64 = a{left}[x0] @0 inside; x2: i64 = a{right}[x0] @0 inside; x3: i64 = 3; \
         x4: i64 = x1 * x3; x5: i64 = x4 - x2 -> x5 }}\n"
    )
}

/// Prefix sums that start with an element of another array.
fn scan(to: usize, from: usize) -> String {
    format!(
        "a{to}: Array1<i64> = scan @0 sum extents () {{ -> }} len () {{ x0: i64 = extent a{from} 0 -> x0 }} \
         element (x0: i64) {{ x1: i64 = a{from}[x0] @0 inside -> x1 }} \
         op (x0: i64, x1: i64) {{ x2: i64 = x0 + x1 -> x2 }}\n"
    )
}

/// The sum of an array.
fn sum(to: usize, from: usize) -> String {
    format!(
        "a{to}: Array0<i64> = reduce @0 sum extents () {{ -> }} len () {{ x0: i64 = extent a{from} 0 -> x0 }} \
         element (x0: i64) {{ x1: i64 = a{from}[x0] @0 inside -> x1 }} \
         init () {{ x0: i64 = 0 -> x0 }} op (x0: i64, x1: i64) {{ x2: i64 = x0 + x1 -> x2 }}\n"
    )
}

/// Rounds of all three statements. Each takes its arrays from different places: the last array, the one before, or the
/// same array twice.
fn rounds(count: usize) -> String {
    let (mut text, mut results) = (String::new(), vec![]);
    let (mut before, mut last) = (0, 1);
    for k in 0..count {
        let next = 2 + 5 * k;
        text += &zip(next, before, last);
        text += &zip(next + 1, last, before);
        text += &zip(next + 2, next + 1, if k % 2 == 0 { next + 1 } else { next });
        text += &scan(next + 3, next + 2);
        text += &sum(next + 4, next + 3);
        results.extend([next + 4, next]);
        (before, last) = (next + 1, next + 3);
    }
    let results: Vec<_> = results.iter().map(|a| format!("a{a}")).collect();
    format!("program (a0: Array1<i64>, a1: Array1<i64>)\n{SITES}{{\n{text}-> {}\n}}", results.join(", "))
}

#[test]
fn every_statement_has_its_own_arrays() {
    let text = rounds(7);
    let kernels = compile(&text);
    for n in [1, 2, 33, 1000, 70_001] {
        let input = |seed: i64| array(&[n], (0..n as i64).map(|i| (i * 37 + seed) % 101 - 50).collect::<Vec<_>>());
        let (a, b) = (input(3), input(17));
        let argument = ArrayTuple::pair(ArrayTuple::Array(a.clone()), ArrayTuple::Array(b.clone()));
        let expected: Vec<RawArray> = evaluate(&program(&text), &argument).unwrap();
        assert_eq!(kernels.run(vec![a, b]).unwrap(), expected, "{n}");
    }
}

#[test]
fn equal_statements_have_one_kernel() {
    let length = |rounds_of: usize| emit(&program(&rounds(rounds_of)), Options::default()).source.lines().count();
    let (four, eight) = (length(4), length(8));
    // Another statement only adds some lines to the host program and to the calls.
    assert!((eight - four) / 20 < 40, "{four} lines become {eight}");
}
