//! Statements that differ only in their arrays, sites and constant indices share kernels. Each works on its own arrays, and
//! its faults have its own names.

use crate::support::{array, compile, program};
use accel_codegen::{Options, emit};
use accel_core::repr::{ArrayTuple, RawArray};
use accel_fusion::kernel::evaluate;
use accel_native::Kernels;

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

/// Runs a program of inputs of these columns by both executors.
fn both(text: &str, kernels: &Kernels, inputs: &[RawArray]) -> [Result<Vec<RawArray>, String>; 2] {
    let argument = inputs.iter().cloned().collect();
    [evaluate(&program(text), &argument), kernels.run(inputs.to_vec())].map(|r| r.map_err(|e| e.to_string()))
}

/// A program in which each of five statements has an array of its own, `a1` to `a5`, and a site of its own. `a0` is common to all.
fn five(statement: impl Fn(usize, usize) -> String) -> String {
    let params: Vec<_> = (0..6).map(|a| format!("a{a}: Array1<i64>")).collect();
    let sites: String = (0..5).map(|k| format!("site {k} = \"number {k}\"\n")).collect();
    let statements: String = (0..5).map(|k| statement(k, k + 1)).collect();
    let results: Vec<_> = (0..5).map(|k| format!("a{}", k + 6)).collect();
    format!("program ({})\n{sites}{{\n{statements}-> {}\n}}", params.join(", "), results.join(", "))
}

fn gather(k: usize, from: usize) -> String {
    format!(
        "a{}: Array1<i64> = loop @{k} extents () {{ x0: i64 = extent a0 0 -> x0 }} \
         body (x0: i64) {{ x1: i64 = a0[x0] @{k} inside; x2: i64 = a{from}[x1] @{k} -> x2 }}\n",
        k + 6
    )
}

fn quotients(k: usize, from: usize) -> String {
    format!(
        "a{}: Array1<i64> = loop @{k} extents () {{ x0: i64 = extent a0 0 -> x0 }} \
         body (x0: i64) {{ x1: i64 = a0[x0] @{k} inside; x2: i64 = extent a{from} 0; x3: i64 = x1 - x2; \
         x4: i64 = x1 / x3 -> x4 }}\n",
        k + 6
    )
}

fn histogram(k: usize, into: usize) -> String {
    format!(
        "a{}: Array1<i64> = permute a{into} @{k} sum extents () {{ x0: i64 = extent a0 0 -> x0 }} \
         target (x0: i64) {{ x1: i64 = a0[x0] @{k} inside; x2: i64 = 0; x3: bool = x1 >= x2 -> x3, x1 }} \
         element (x0: i64) {{ -> x0 }} comb (x0: i64, x1: i64) {{ x2: i64 = x0 + x1 -> x2 }}\n",
        k + 6
    )
}

/// Statement `k` fails, since its array is the first one that is too short: by one thread, and by several.
#[test]
fn faults_name_the_statement() {
    for statement in [gather, quotients, histogram] {
        let text = five(statement);
        let kernels = compile(&text);
        for (n, k) in [10usize, 70_001].into_iter().flat_map(|n| (0..6).map(move |k| (n, k))) {
            let mut indices = vec![3i64; n];
            indices[n / 3] = 10;
            let length = |a: usize| if a == k + 1 { 10 } else { 11 + a };
            let of = |a: usize| array(&[length(a)], (0..length(a) as i64).map(|x| x * a as i64).collect::<Vec<_>>());
            let inputs: Vec<_> = std::iter::once(array(&[n], indices)).chain((1..6).map(of)).collect();
            let [expected, found] = both(&text, &kernels, &inputs);
            assert_eq!(found, expected, "{n} {k}\n{text}");
            assert_eq!(expected.is_err(), k < 5, "{n} {k}\n{text}");
            if let Err(e) = expected {
                assert!(e.contains(&format!("number {k}")), "{e}");
            }
        }
    }
}

/// Sums of rows of exponentials, which a strip computes, of an array of its own.
fn strip(to: usize, from: usize) -> String {
    format!(
        "a{to}: Array1<f64> = strip @0 len () {{ x0: i64 = extent a{from} 0 -> x0 }} body {{\n\
         a{inner}: Array2<f64> = loop @0 extents () {{ x0: i64 = extent a{from} 0; x1: i64 = extent a{from} 1 -> x0, x1 }} \
         body (x0: i64, x1: i64) {{ x2: f64 = a{from}[x0, x1] @0 inside; x3: f64 = exp x2 -> x3 }}\n\
         a{to}: Array1<f64> = reduce @0 sum extents () {{ x0: i64 = extent a{from} 0 -> x0 }} \
         len () {{ x0: i64 = extent a{from} 1 -> x0 }} \
         element (x0: i64, x1: i64) {{ x2: f64 = a{inner}[x0, x1] @0 inside -> x2 }} \
         init () {{ x0: f64 = 0.0 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}\n-> a{to} }}\n",
        inner = to + 1,
    )
}

#[test]
fn strips_have_their_own_arrays() {
    let params: Vec<_> = (0..6).map(|a| format!("a{a}: Array2<f64>")).collect();
    let program = |count: usize| {
        let strips: String = (0..count).map(|k| strip(6 + 2 * k, k)).collect();
        let results: Vec<_> = (0..count).map(|k| format!("a{}", 6 + 2 * k)).collect();
        format!("program ({})\n{SITES}{{\n{strips}-> {}\n}}", params.join(", "), results.join(", "))
    };
    let inputs: Vec<_> =
        (0..6).map(|a| (3 + 40 * a, 1 + 17 * a)).map(|(n, m)| array(&[n, m], crate::support::numbers(n * m))).collect();
    let [expected, found] = both(&program(6), &compile(&program(6)), &inputs);
    for (expected, found) in expected.unwrap().iter().zip(&found.unwrap()) {
        assert_eq!(found.extents, expected.extents);
        for (x, y) in crate::support::f64s(expected).iter().zip(crate::support::f64s(found)) {
            assert!((x - y).abs() <= 1e-12 * x.abs(), "{x} {y}");
        }
    }
    let lines = |count| emit(&crate::support::program(&program(count)), Options::default()).source.lines().count();
    assert!(lines(6) - lines(5) < 90, "{} lines become {}", lines(5), lines(6));
}

/// Statements that read different rows of one matrix share kernels.
#[test]
fn constant_indices_may_differ() {
    let row = |k: usize| {
        format!(
            "a{}: Array1<i64> = loop @0 extents () {{ x0: i64 = extent a0 1 -> x0 }} body (x0: i64) {{ x1: i64 = {}; \
             x2: i64 = 3; x3: i64 = a0[x1, x0] @0 inside; x4: i64 = 4; x5: i64 = a0[x4, x0] @0 inside; x6: i64 = x3 * x2; \
             x7: i64 = x6 - x5 -> x7 }}\n",
            k + 1,
            k % 5
        )
    };
    let text = |count: usize| {
        let rows: String = (0..count).map(row).collect();
        let results: Vec<_> = (1..=count).map(|a| format!("a{a}")).collect();
        format!("program (a0: Array2<i64>)\n{SITES}{{\n{rows}-> {}\n}}", results.join(", "))
    };
    let source = emit(&program(&text(8)), Options::default()).source;
    assert_eq!(source.matches("return loop_8(of_statement, task, fault);").count(), 8, "{source}");
    let kernels = compile(&text(8));
    for n in [1, 33, 100_000] {
        let [expected, found] = both(&text(8), &kernels, &[array(&[5, n], (0..5 * n as i64).collect::<Vec<_>>())]);
        assert_eq!(found, expected);
    }
}
