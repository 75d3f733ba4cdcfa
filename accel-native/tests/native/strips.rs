//! Programs with strips, compared with the same programs without strips.

use crate::growth;
use crate::support::program;
use accel_codegen::Vectors;
use accel_core::repr::{Column, RawArray};
use accel_fusion::kernel::{Op, Program, Verified, evaluate};
use accel_fusion::pipeline::strips;
use accel_native::Kernels;
use std::time::Instant;

/// The program with strips. The first statement that is not a literal must be a strip.
fn stripped(text: &str) -> Verified<Program> {
    let p = strips(&program(text)).unwrap();
    assert!(p.body.stmts.iter().any(|s| matches!(s.op, Op::Strip { .. })), "{p}");
    p
}

fn compile(p: Verified<Program>) -> Kernels {
    // SAFETY: the reads that the texts below mark as `inside` are within bounds.
    unsafe { Kernels::trusting(p) }.unwrap_or_else(|e| panic!("{e}")).expect("the tests need a C compiler")
}

fn compile_with(p: Verified<Program>, vectors: Vectors) -> Kernels {
    // SAFETY: as above.
    unsafe { Kernels::trusting_with(p, vectors) }
        .unwrap_or_else(|e| panic!("{e}"))
        .expect("the tests need a C compiler")
}

/// The vector registers of several processors. Compilers emulate those that this processor does not have.
fn vectors() -> [Vectors; 4] {
    [(64, 32), (32, 16), (16, 16), (16, 32)].map(|(bytes, registers)| Vectors { bytes, registers })
}

fn array(extents: &[usize], column: impl Into<Column>) -> RawArray {
    RawArray { extents: extents.into(), columns: vec![column.into()].into() }
}

/// Pseudo-random numbers between -1 and 1.
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
    let (all, slow) = (vectors().map(|v| compile_with(strip.clone(), v)), compile(program(MIXTURE)));
    for n in [0, 1, 7, 8, 31, 32, 33, 1000, 1009] {
        for (k, d) in [(3, 2), (0, 3), (3, 0), (1, 1), (10, 10), (5, 7), (2, 33)] {
            let what = format!("{n} {k} {d}");
            let expected = slow.run(mixture(n, k, d)).unwrap();
            all.iter().for_each(|fast| close(&fast.run(mixture(n, k, d)).unwrap(), &expected, &what));
            if n < 100 && k * d < 10 {
                let argument = mixture(n, k, d).into_iter().collect();
                close(&expected, &evaluate(&strip, &argument).unwrap(), &what);
            }
        }
    }
}

/// A single position would take as long as a task, but there are none.
#[test]
fn a_mixture_of_no_points() {
    let (fast, slow) = (compile(stripped(MIXTURE)), compile(program(MIXTURE)));
    let found = fast.run(mixture(0, 1, 150)).unwrap();
    close(&found, &slow.run(mixture(0, 1, 150)).unwrap(), "no points");
}

/// The adjoint of squares of distances: rows and columns of the same matrix are read at the position, and products are added
/// to themselves and negated.
#[test]
fn sums_that_read_across() {
    let sum = |to: &str, first: &str, second: &str, weight: &str, last: &str| {
        format!(
            "{to}: Array2<T> = reduce @0 sum
               extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }} len () {{ x0: i64 = extent a0 0 -> x0 }}
               element (x0: i64, x1: i64, x2: i64) {{
                 x3: T = a0[{first}] @0 inside; x4: T = a0[{second}] @0 inside; x5: T = x3 - x4; x6: T = a1[{weight}] @0 inside;
                 x7: T = x5 * x6; x8: T = x7 + x7; {last} }}
               init () {{ x0: T = 0.5 -> x0 }} op (x0: T, x1: T) {{ x2: T = x0 + x1 -> x2 }}"
        )
    };
    let text = format!(
        "program (a0: Array2<T>, a1: Array2<T>)\nsite 0 = \"here\"\n{{\n{}\n{}\n\
         a4: Array2<T> = loop @0 extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }}\n\
         body (x0: i64, x1: i64) {{ x2: T = a2[x0, x1] @0 inside; x3: T = a3[x0, x1] @0 inside; x4: T = x2 + x3 -> x4 }}\n\
         -> a4\n}}",
        sum("a2", "x2, x1", "x0, x1", "x2, x0", "x9: T = neg x8 -> x9"),
        sum("a3", "x0, x1", "x2, x1", "x0, x2", "x9: T = x8 + x8 -> x9"),
    );
    let some = |k: usize| (k * 7919 % 13) as f64 - 6.0;
    for t in ["f32", "f64"] {
        let text =
            text.replace("= 0.5", if t == "f32" { "= 0.5f32" } else { "= 0.5" }).replace(": T", &format!(": {t}"));
        let text = text.replace("<T>", &format!("<{t}>"));
        let strip = stripped(&text);
        let Op::Strip { body, .. } = &strip.body.stmts[0].op else { panic!("{strip}") };
        assert_eq!(body.stmts.len(), 3, "{strip}");
        let (all, slow) = (vectors().map(|v| compile_with(strip.clone(), v)), compile(program(&text)));
        for (n, d) in [0, 1, 7, 31, 32, 33, 64, 100].into_iter().flat_map(|n| [0, 1, 2, 3, 8, 17].map(|d| (n, d))) {
            let matrix = |n: usize, m: usize| -> RawArray {
                let all: Vec<f64> = (0..n * m).map(some).collect();
                if t == "f32" {
                    array(&[n, m], all.iter().map(|x| *x as f32).collect::<Vec<_>>())
                } else {
                    array(&[n, m], all)
                }
            };
            let inputs = || vec![matrix(n, d), matrix(n, n)];
            let argument = inputs().into_iter().collect();
            let expected = evaluate(&strip, &argument).unwrap();
            // The numbers are small integers, so all sums are exact.
            assert_eq!(slow.run(inputs()).unwrap()[0].columns, expected[0].columns, "{t} {n} {d}");
            for fast in &all {
                assert_eq!(fast.run(inputs()).unwrap()[0].columns, expected[0].columns, "{t} {n} {d}");
            }
        }
    }
}

/// A total whose elements are columns of another array at the position, which the strip reads for something else, too.
#[test]
fn totals_that_read_across() {
    let text = "program (a0: Array1<f64>, a1: Array2<f64>)\nsite 0 = \"here\"\n{
        a2: Array1<f64> = loop @0 extents () { x0: i64 = extent a0 0 -> x0 }
          body (x0: i64) {
            x1: f64 = a0[x0] @0 inside; x2: i64 = 0; x3: i64 = extent a1 0; x4: bool = x2 < x3
            x7: f64 = if x4 { x5: f64 = a1[x2, x0] @0 inside -> x5 } else { x6: f64 = 0.0 -> x6 }
            x8: f64 = x1 + x7 -> x8 }
        a3: Array1<f64> = reduce @0 sum extents () { x0: i64 = extent a1 0 -> x0 } len () { x0: i64 = extent a0 0 -> x0 }
          element (x0: i64, x1: i64) {
            x2: f64 = a2[x1] @0 inside; x3: f64 = a1[x0, x1] @0 inside; x4: f64 = x2 - x3; x5: f64 = x4 * x4 -> x5 }
          init () { x0: f64 = 0.5 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
        -> a3\n}";
    let strip = stripped(text);
    let all = vectors().map(|v| compile_with(strip.clone(), v));
    for (n, d) in [0, 1, 7, 31, 32, 33, 100].into_iter().flat_map(|n| [0, 1, 3, 17].map(|d| (n, d))) {
        let some = |n: usize| (0..n).map(|k| (k * 7919 % 13) as f64 - 6.0).collect::<Vec<_>>();
        let inputs = || vec![array(&[n], some(n)), array(&[d, n], some(d * n))];
        let argument = inputs().into_iter().collect();
        let expected = evaluate(&strip, &argument).unwrap();
        // The numbers are small integers, so all sums are exact.
        for fast in &all {
            assert_eq!(fast.run(inputs()).unwrap()[0].columns, expected[0].columns, "{n} {d}");
        }
    }
}

/// Sums over positions of `x[i, c, h] y[i, c, j]`, with exact numbers.
#[test]
fn outer_products_of_any_size() {
    let text = r#"program (a0: Array3<T>, a1: Array3<T>)
site 0 = "outer"
{
  a2: Array3<T> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1; x2: i64 = extent a0 2 -> x0, x1, x2 }
    body (x0: i64, x1: i64, x2: i64) { x3: T = a0[x0, x1, x2] @0 inside; x4: T = x3 + x3 -> x4 }
  a3: Array3<T> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1; x2: i64 = extent a1 2 -> x0, x1, x2 }
    body (x0: i64, x1: i64, x2: i64) { x3: T = a1[x0, x1, x2] @0 inside; x4: T = neg x3 -> x4 }
  a4: Array3<T> = reduce @0 sum
    extents () { x0: i64 = extent a0 1; x1: i64 = extent a0 2; x2: i64 = extent a1 2 -> x0, x1, x2 }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64, x1: i64, x2: i64, x3: i64) {
      x4: T = a2[x3, x0, x1] @0 inside
      x5: T = a3[x3, x0, x2] @0 inside
      x6: T = x4 * x5
      -> x6
    }
    init () { x0: T = 0.0 -> x0 }
    op (x0: T, x1: T) { x2: T = x0 + x1 -> x2 }
  -> a4
}"#;
    let some = |k: usize| (k * 7919 % 13) as f64 - 6.0;
    for t in ["f32", "f64"] {
        let text =
            text.replace("T>", &format!("{t}>")).replace(": T", &format!(": {t}")).replace("0.0", &format!("0.0_{t}"));
        let all = vectors().map(|v| compile_with(stripped(&text), v));
        let exact = |all: Vec<f64>| -> Column {
            if t == "f32" { all.into_iter().map(|x| x as f32).collect::<Vec<_>>().into() } else { all.into() }
        };
        let column = |n: usize| exact((0..n).map(some).collect());
        for (n, c, h, j) in
            [(1, 1, 1, 16), (31, 2, 3, 17), (100, 3, 9, 33), (77, 2, 13, 64), (1000, 1, 20, 31), (40, 2, 0, 32)]
        {
            let x = array(&[n, c, h], column(n * c * h));
            let inputs = vec![x, array(&[n, c, j], column(n * c * j))];
            let element = |p: usize| -> f64 {
                let (at_c, at_h, at_j) = (p / j / h, p / j % h, p % j);
                (0..n).map(|i| -2.0 * some((i * c + at_c) * h + at_h) * some((i * c + at_c) * j + at_j)).sum()
            };
            let expected: Vec<f64> = (0..c * h * j).map(element).collect();
            let expected = array(&[c, h, j], exact(expected));
            for fast in &all {
                let found = fast.run(inputs.clone()).unwrap().remove(0);
                assert_eq!(found, expected, "{t} {n} {c} {h} {j}");
            }
        }
    }
}

/// Sums of products treat tiny numbers as zero. After the run, this mode is off again.
#[test]
fn tiny_numbers_are_there_after_a_run() {
    let fast = compile(stripped(MIXTURE));
    let mut input = mixture(100, 3, 2);
    // The weights differ so much that the smaller ones of the points are below the normal numbers.
    input[3] = array(&[3], vec![0.0, -715.0, -740.0]);
    let found = fast.run(input.clone()).unwrap();
    close(&found, &compile(program(MIXTURE)).run(input).unwrap(), "tiny");
    assert_eq!(std::hint::black_box(1e-310) * 0.5, 5e-311);
}

/// All constructs except sums of products: several columns, types of several sizes, branches (some on values that are
/// the same for all positions), checked and indirect reads, operators that are not commutative, with and without
/// initial values, results of every rank.
const MIXED: &str = r#"program (a0: Array2<i64>, a1: Array1<i64>, a2: Array1<f32>)
site 0 = "map"
site 1 = "index"
{
  a3: Array2<i64, bool>, a4: Array2<f32> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    body (x0: i64, x1: i64) {
      x2: i64 = a0[x0, x1] @0 inside
      x3: i64 = a1[x0] @0
      x4: f32 = a2[x3] @1
      x5: f32 = as f32 x0
      x6: bool = x4 < x5
      x7: f32 = if x6 { x8: f32 = x4 * x5 -> x8 } else { -> x4 }
      x9: i64 = a0[x0, x3] @1
      x10: i64 = x2 + x9
      x11: i64 = 100
      x12: i64 = x11 / x3
      x13: i64 = x10 - x12
      -> x13, x6, x7
    }
  a5: Array1<i64, i64> = reduce @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    len () { x0: i64 = extent a0 1 -> x0 }
    element (x0: i64, x1: i64) { x2: i64, x3: bool = a3[x0, x1] @0 inside -> x2, x1 }
    op (x0: i64, x1: i64, x2: i64, x3: i64) {
      x4: bool = x2 > x0
      x5: i64, x6: i64 = if x4 { -> x2, x3 } else { -> x0, x1 }
      -> x5, x6
    }
  a6: Array1<f32> = reduce @0 max
    extents () { x0: i64 = extent a0 0 -> x0 }
    len () { x0: i64 = extent a0 1 -> x0 }
    element (x0: i64, x1: i64) { x2: f32 = a4[x0, x1] @0 -> x2 }
    op (x0: f32, x1: f32) { x2: f32 = max x0 x1 -> x2 }
  a7: Array2<i64> = reduce @0
    extents () { x0: i64 = extent a0 1; x1: i64 = 2 -> x0, x1 }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64, x1: i64, x2: i64) { x3: i64, x4: bool = a3[x2, x0] @0 inside; x5: i64 = x3 + x1 -> x5 }
    op (x0: i64, x1: i64) { x2: i64 = 3; x3: i64 = x2 * x0; x4: i64 = x3 * x1 -> x4 }
  a8: Array0<i64, i64> = reduce @0
    extents () { -> }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64) { x1: i64, x2: i64 = a5[x0] @0 inside -> x1, x2 }
    init () { x0: i64 = 5; x1: i64 = 7 -> x0, x1 }
    op (x0: i64, x1: i64, x2: i64, x3: i64) { x4: i64 = x0 * x2; x5: i64 = x1 * x2; x6: i64 = x5 + x3 -> x4, x6 }
  a9: Array1<i64> = reduce @0 min
    extents () { x0: i64 = extent a0 1 -> x0 }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64, x1: i64) { x2: i64, x3: bool = a3[x1, x0] @0 inside -> x2 }
    op (x0: i64, x1: i64) { x2: i64 = min x0 x1 -> x2 }
  a10: Array1<f32> = loop @0
    extents () { x0: i64 = extent a6 0 -> x0 }
    body (x0: i64) { x1: f32 = a6[x0] @0 inside; x2: i64 = extent a3 1; x3: f32 = as f32 x2; x4: f32 = x1 / x3 -> x4 }
  a11: Array0<i64> = reduce @0
    extents () { -> }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64) { x1: i64, x2: i64 = a5[x0] @0 inside; x3: i64 = x1 - x2 -> x3 }
    op (x0: i64, x1: i64) { -> x1 }
  a12: Array1<f32> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f32 = a6[x0] @0 inside; x2: f32 = sin x1 -> x2 }
  a13: Array2<f32> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    body (x0: i64, x1: i64) {
      x2: f32 = a6[x0] @0 inside
      x3: i64 = 1
      x4: bool = x1 == x3
      x5: f32 = if x4 { x6: f32 = x2 * x2 -> x6 } else {
        x7: bool = x1 > x3
        x8: f32 = if x7 { x9: i64 = x1 - x3; x10: f32 = a4[x0, x9] @1 -> x10 } else { x11: i64 = x0 + x1; x12: f32 = as f32 x11 -> x12 }
        -> x8
      }
      -> x5
    }
  a14: Array1<i64> = reduce @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    len () { x0: i64 = extent a0 1 -> x0 }
    element (x0: i64, x1: i64) { x2: i64, x3: bool = a3[x0, x1] @0 inside -> x2 }
    op (x0: i64, x1: i64) { x2: i64 = 5; x3: i64 = x0 + x1; x4: i64 = x3 + x2 -> x4 }
  -> a3, a4, a5, a7, a8, a9, a10, a11, a13, a14, a12
}"#;

fn mixed(n: usize, m: usize, change: impl Fn(&mut Vec<i64>, &mut Vec<f32>)) -> Vec<RawArray> {
    let some = |i: usize| (i * 7919 % 1009) as i64;
    let mut indices: Vec<i64> = (0..n).map(|i| 1 + some(i) % (m.max(2) as i64 - 1)).collect();
    let mut table: Vec<f32> = (0..m.max(2)).map(|i| some(i) as f32 / 2.0).collect();
    change(&mut indices, &mut table);
    vec![
        array(&[n, m], (0..n * m).map(|i| some(i) - 500).collect::<Vec<_>>()),
        array(&[indices.len()], indices),
        array(&[table.len()], table),
    ]
}

#[test]
fn all_kinds_of_statements() {
    let (fast, slow) = (compile(stripped(MIXED)), compile(program(MIXED)));
    let sizes = [1, 7, 8, 31, 32, 33, 1000, 1009, 100_003].into_iter().flat_map(|n| [(n, 2), (n, 3), (n, 17)]);
    // For the last two sizes, a strip would take too much memory, so the statements are executed one by one. The second run
    // with such extents does not begin with the strip.
    for (n, m) in sizes.chain([(4, 5000), (40, 60_000), (4, 5000), (4, 5001)]) {
        let found = fast.run(mixed(n, m, |_, _| {})).unwrap();
        let expected = slow.run(mixed(n, m, |_, _| {})).unwrap();
        // The sine can differ in the last place.
        close(&found[..10], &expected[..10], &format!("{n} {m}"));
        assert_eq!(found[10].extents, expected[10].extents);
    }
}

/// As above, without the total of rank 2, so that long rows are executed one position at a time.
#[test]
fn all_kinds_of_statements_on_long_rows() {
    let (before, rest) = MIXED.split_once("  a7: ").unwrap();
    let (_, after) = rest.split_once("  a8: ").unwrap();
    let before = before.replacen("\n{\n", "\nunset a7: Array2<i64>\n{\n", 1);
    let text = format!("{before}  a8: {}", after.replace("a7, ", ""));
    let (fast, slow) = (compile(stripped(&text)), compile(program(&text)));
    let sizes = [1, 2, 31, 100].into_iter().flat_map(|n| [63, 64, 65, 127, 128, 200, 1009].map(|m| (n, m)));
    // The last one has several tasks, of a few rows each.
    for (n, m) in sizes.chain([(9, 60_000)]) {
        let found = fast.run(mixed(n, m, |_, _| {})).unwrap();
        let expected = slow.run(mixed(n, m, |_, _| {})).unwrap();
        close(&found[..9], &expected[..9], &format!("{n} {m}"));
    }
    for (what, index) in [("integer division by zero", 0), ("index [200] is outside the shape [200]", 200)] {
        let wrong = |k: &Kernels| k.run(mixed(40, 200, |i, _| i[38] = index)).unwrap_err().to_string();
        assert_eq!(wrong(&fast), wrong(&slow));
        assert!(wrong(&fast).contains(what), "{}", wrong(&fast));
    }
}

#[test]
fn errors_are_those_of_the_statements() {
    let (fast, slow) = (compile(stripped(MIXED)), compile(program(MIXED)));
    let same = |n: usize, m: usize, change: &dyn Fn(&mut Vec<i64>, &mut Vec<f32>), says: &str| {
        let [a, b] = [&fast, &slow].map(|k| k.run(mixed(n, m, change)).unwrap_err().to_string());
        assert_eq!(a, b);
        assert!(a.contains(says), "{a}");
    };
    for n in [33, 5000] {
        same(n, 3, &|i, _| i[n - 1] = 0, "integer division by zero");
        same(n, 3, &|i, _| i[n - 2] = 3, "index [3] is outside the shape [3]");
        // There are fewer indices than rows: the copy to the strip stays within bounds.
        same(n, 3, &|i, _| i.truncate(n - 1), &format!("index [{}] is outside the shape [{0}]", n - 1));
        same(n, 3, &|i, _| i.clear(), "index [0] is outside the shape [0]");
        same(n, 0, &|_, _| {}, "non-empty");
    }
}

/// Eight times as many statements take at most fifteen times as long.
#[test]
fn thousands_of_statements() {
    // Each attempt compiles another program, since the library of the last one is kept.
    let mut attempt = 0;
    let time = |n: usize| {
        attempt += 1;
        let mut text = String::from("program (a0: Array1<f64>)\nsite 0 = \"map\"\n{\n");
        for k in 1..=n {
            text += &format!(
                "a{k}: Array1<f64> = loop @0 extents () {{ x0: i64 = extent a0 0 -> x0 }} \
                 body (x0: i64) {{ x1: f64 = a{}[x0] @0 inside; x2: f64 = a0[x0] @0 inside; x3: f64 = {attempt}.0; \
                 x4: f64 = x2 * x3; x5: f64 = x1 + x4 -> x5 }}\n",
                k - 1
            );
        }
        text += &format!("-> a{n}\n}}");
        let start = Instant::now();
        let k = compile(stripped(&text));
        let found = k.run(vec![array(&[100], vec![1.0; 100])]).unwrap();
        assert_eq!(found[0], array(&[100], vec![(1 + n * attempt) as f64; 100]));
        start.elapsed()
    };
    growth::within([125, 1000], |short| short * 15, time);
}

/// Not a test: prints times. `cargo test --release -p accel-native --test native strips:: -- --ignored --nocapture`
#[test]
#[ignore = "prints times"]
fn times() {
    let start = Instant::now();
    let fast = compile(stripped(MIXTURE));
    println!("compiled in {:?}", start.elapsed());
    let slow = compile(program(MIXTURE));
    for (n, k, d) in [(1000, 5, 2), (10_000, 10, 10), (1000, 10, 32), (10_000, 5, 2)] {
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
