//! Programs in strips against the same programs without.

use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::{Op, Program, evaluate, parse};
use accel_fusion::strip::strips;
use accel_native::Kernels;
use std::time::Instant;

fn program(text: &str) -> Program {
    parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The program in strips: the first statement that is not a literal must be one.
fn stripped(text: &str) -> Program {
    let p = strips(&program(text));
    assert!(p.body.stmts.iter().any(|s| matches!(s.op, Op::Strip { .. })), "{p}");
    p
}

fn compile(p: Program) -> Kernels {
    Kernels::new(p).unwrap_or_else(|e| panic!("{e}")).expect("the tests need a C compiler")
}

fn array(extents: &[usize], column: impl Into<Column>) -> RawArray {
    RawArray { extents: extents.into(), columns: vec![column.into()] }
}

/// Numbers between -1 and 1 that look random.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut x = seed;
    let next = |_| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(next).collect()
}

fn mixture(n: usize, k: usize, d: usize) -> Vec<RawArray> {
    vec![
        array(&[n, d], numbers(n * d, 1)),
        array(&[k, d], numbers(k * d, 2)),
        array(&[k, d, d], numbers(k * d * d, 3)),
        array(&[k], numbers(k, 4)),
    ]
}

fn close(a: &[RawArray], b: &[RawArray], what: &str) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a.extents, b.extents, "{what}");
        for (a, b) in a.columns.iter().zip(&b.columns) {
            match (a, b) {
                (Column::F64(a), Column::F64(b)) => {
                    let scale = b.iter().filter(|x| x.is_finite()).fold(1.0f64, |m, x| m.max(x.abs()));
                    let near =
                        |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() < 1e-11 * scale;
                    assert!(a.iter().zip(b.iter()).all(near), "{what}: {a:?} {b:?}");
                }
                _ => assert_eq!(a, b, "{what}"),
            }
        }
    }
}

const MIXTURE: &str = include_str!("strips/mixture.kernel");

#[test]
fn a_mixture_of_any_size() {
    let strip = stripped(MIXTURE);
    assert_eq!(strip.body.stmts.len(), 1, "{strip}");
    let (fast, slow) = (compile(strip.clone()), compile(program(MIXTURE)));
    for n in [0, 1, 16, 31, 32, 33, 1000, 1009] {
        for (k, d) in [(3, 2), (0, 3), (3, 0), (1, 1), (10, 10), (5, 7)] {
            let what = format!("{n} {k} {d}");
            let found = fast.run(mixture(n, k, d)).unwrap();
            close(&found, &slow.run(mixture(n, k, d)).unwrap(), &what);
            if n < 100 && k * d < 10 {
                let argument = mixture(n, k, d).into_iter().map(ArrayTuple::Array).reduce(ArrayTuple::pair).unwrap();
                close(&found, &evaluate(&strip, &argument).unwrap(), &what);
            }
        }
    }
}

/// Not a test: prints times. `cargo test --release -p accel-native --test strips -- --ignored --nocapture`
#[test]
#[ignore = "prints times"]
fn times() {
    let start = Instant::now();
    let fast = compile(stripped(MIXTURE));
    println!("compiled in {:?}", start.elapsed());
    let slow = compile(program(MIXTURE));
    for (n, k, d) in [(1000, 5, 2), (10_000, 10, 10), (1000, 10, 32), (10_000, 5, 2), (10_000, 25, 32)] {
        let time = |kernels: &Kernels| {
            let once = |_| {
                let input = mixture(n, k, d);
                let start = Instant::now();
                kernels.run(input).unwrap();
                start.elapsed()
            };
            (0..10).map(once).min().unwrap()
        };
        println!("n {n} k {k} d {d}: strips {:?}, one by one {:?}", time(&fast), time(&slow));
    }
}
