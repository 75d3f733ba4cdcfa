//! Kernel programs, written as text, compared with plain Rust.

use crate::support::{array, compile, f64s, program};
use accel_core::error::Error;
use accel_core::repr::{Column, RawArray};
use accel_fusion::kernel::{ArrayId, Verified};
use accel_native::Kernels;

fn i64s(a: &RawArray) -> &[i64] {
    match &a.columns[0] {
        Column::I64(c) => c,
        c => panic!("a column of {}", c.ty()),
    }
}

/// Sizes around the limits of one task, of several tasks, and of parts of a row.
const SIZES: [usize; 9] = [0, 1, 2, 31, 129, 4099, 65_536, 100_003, 1_000_001];

#[test]
fn loops_of_every_size() {
    let k = compile(
        r#"program (a0: Array1<f64>)
site 0 = "map"
{
  a1: Array1<f64>, a2: Array1<bool> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = x1 * x1; x3: bool = x1 < x2 -> x2, x3 }
  -> a1, a2
}"#,
    );
    for n in SIZES {
        let xs: Vec<f64> = (0..n).map(|i| i as f64 / 100.0).collect();
        let out = k.run(vec![array(&[n], xs.clone())]).unwrap();
        assert_eq!(f64s(&out[0]), xs.iter().map(|x| x * x).collect::<Vec<_>>());
        assert_eq!(out[1].columns[0], Column::from(xs.iter().map(|x| *x < x * x).collect::<Vec<bool>>()));
        assert_eq!(&*out[0].extents, [n]);
    }
}

#[test]
fn indices_of_several_dimensions() {
    let k = compile(
        r#"program (a0: Array0<i64>)
site 0 = "generate"
{
  a1: Array3<i64> = loop @0
    extents () { x0: i64 = a0[] @0 inside; x1: i64 = 3; x2: i64 = 7 -> x1, x0, x2 }
    body (x0: i64, x1: i64, x2: i64) {
      x3: i64 = 1000000; x4: i64 = x0 * x3; x5: i64 = 10; x6: i64 = x1 * x5; x7: i64 = x4 + x6; x8: i64 = x7 + x2 -> x8 }
  -> a1
}"#,
    );
    for n in [0, 1, 5, 20_000] {
        let out = k.run(vec![array(&[], vec![n as i64])]).unwrap();
        let mut expected = vec![];
        for i in 0..3 {
            for j in 0..n as i64 {
                expected.extend((0..7).map(|k| i * 1_000_000 + j * 10 + k));
            }
        }
        assert_eq!(i64s(&out[0]), expected);
    }
}

/// A reduction of the rows of a matrix with an operator that is associative but not commutative: affine functions
/// modulo 2^64, as pairs.
const COMPOSE: &str =
    "op (x0: i64, x1: i64, x2: i64, x3: i64) { x4: i64 = x0 * x2; x5: i64 = x1 * x2; x6: i64 = x5 + x3 -> x4, x6 }";
const ELEMENT: &str =
    "element (x0: i64, x1: i64) { x2: i64 = a0[x0, x1] @0 inside; x3: i64 = 3; x4: i64 = x2 + x3 -> x4, x2 }";

fn compose((a, b): (i64, i64), (c, d): (i64, i64)) -> (i64, i64) {
    (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d))
}

fn pairs(a: &RawArray) -> Vec<(i64, i64)> {
    match (&a.columns[0], &a.columns[1]) {
        (Column::I64(x), Column::I64(y)) => x.iter().copied().zip(y.iter().copied()).collect(),
        _ => panic!("two columns of integers"),
    }
}

fn rows_program(statement: &str, result: &str, init: &str) -> String {
    let op = match statement {
        "scan @0 reverse" => {
            "op (x0: i64, x1: i64, x2: i64, x3: i64) { x4: i64 = x0 * x2; x5: i64 = x1 * x2; x6: i64 = x5 + x3 -> x4, x6 }"
        }
        _ => COMPOSE,
    };
    format!(
        r#"program (a0: Array2<i64>)
site 0 = "fold"
{{
  a1: {result} = {statement}
    extents () {{ x0: i64 = extent a0 0 -> x0 }}
    len () {{ x0: i64 = extent a0 1 -> x0 }}
    {ELEMENT}
    {init}
    {op}
  -> a1
}}"#
    )
}

const INIT: &str = "init () { x0: i64 = 5; x1: i64 = 7 -> x0, x1 }";

fn matrix(rows: usize, n: usize) -> (RawArray, Vec<Vec<(i64, i64)>>) {
    let xs: Vec<i64> = (0..rows * n).map(|i| (i as i64).wrapping_mul(2_654_435_761) % 1000).collect();
    let elements = (0..rows).map(|r| xs[r * n..(r + 1) * n].iter().map(|x| (x + 3, *x)).collect()).collect();
    (array(&[rows, n], xs), elements)
}

const SHAPES: [(usize, usize); 9] =
    [(1, 0), (1, 1), (3, 5), (1, 300), (1, 100_000), (3, 70_001), (100, 1000), (20, 65_536), (40_000, 3)];

#[test]
fn reductions_keep_the_order() {
    for init in [INIT, ""] {
        let k = compile(&rows_program("reduce @0", "Array1<i64, i64>", init));
        for (rows, n) in SHAPES {
            let (a, elements) = matrix(rows, n);
            let found = k.run(vec![a]);
            if init.is_empty() && n == 0 {
                assert!(matches!(found, Err(Error::Shape { .. })), "{found:?}");
                continue;
            }
            let fold = |row: &Vec<(i64, i64)>| match init {
                "" => row[1..].iter().fold(row[0], |a, b| compose(a, *b)),
                _ => row.iter().fold((5, 7), |a, b| compose(a, *b)),
            };
            assert_eq!(pairs(&found.unwrap()[0]), elements.iter().map(fold).collect::<Vec<_>>(), "{rows} rows of {n}");
        }
    }
}

#[test]
fn scans_keep_the_order() {
    for (statement, reverse) in [("scan @0", false), ("scan @0 reverse", true)] {
        for init in [INIT, ""] {
            let k = compile(&rows_program(statement, "Array2<i64, i64>", init));
            for (rows, n) in SHAPES {
                let (a, elements) = matrix(rows, n);
                let out = k.run(vec![a]).unwrap();
                let mut expected = vec![];
                for mut row in elements {
                    if reverse {
                        row.reverse();
                    }
                    let mut acc = (!init.is_empty()).then_some((5, 7));
                    let mut line: Vec<_> = acc.into_iter().collect();
                    for x in row {
                        let next = match acc {
                            None => x,
                            Some(a) if reverse => compose(x, a),
                            Some(a) => compose(a, x),
                        };
                        acc = Some(next);
                        line.push(next);
                    }
                    if reverse {
                        line.reverse();
                    }
                    expected.extend(line);
                }
                assert_eq!(pairs(&out[0]), expected, "{statement} {init} {rows} rows of {n}");
            }
        }
    }
}

#[test]
fn sums_and_extrema_in_lanes() {
    let text = |known: &str, op: &str| {
        format!(
            r#"program (a0: Array1<f64>)
site 0 = "fold"
{{
  a1: Array0<f64> = reduce @0 {known}
    extents () {{ -> }}
    len () {{ x0: i64 = extent a0 0 -> x0 }}
    element (x0: i64) {{ x1: f64 = a0[x0] @0 inside -> x1 }}
    op (x0: f64, x1: f64) {{ x2: f64 = {op} -> x2 }}
  -> a1
}}"#
        )
    };
    let (sum, min, max) =
        (compile(&text("sum", "x0 + x1")), compile(&text("min", "min x0 x1")), compile(&text("max", "max x0 x1")));
    for n in SIZES.into_iter().filter(|n| *n > 0) {
        let mut xs: Vec<f64> = (0..n).map(|i| ((i * 7919) % 10_007) as f64 - 5000.0).collect();
        let one = |k: &Kernels, xs: &[f64]| f64s(&k.run(vec![array(&[xs.len()], xs.to_vec())]).unwrap()[0])[0];
        // Integers below 2^53: every order of summation gives the same result.
        assert_eq!(one(&sum, &xs), xs.iter().sum::<f64>());
        // The result is NaN only if all elements are.
        xs[0] = f64::NAN;
        xs[n / 2] = f64::NAN;
        assert_eq!(one(&min, &xs).to_bits(), xs.iter().fold(f64::NAN, |a, b| a.min(*b)).to_bits());
        assert_eq!(one(&max, &xs).to_bits(), xs.iter().fold(f64::NAN, |a, b| a.max(*b)).to_bits());
        assert!(one(&max, &vec![f64::NAN; n]).is_nan());
    }
}

const PERMUTE: &str = r#"program (a0: Array1<i64>, a1: Array1<f64>)
site 0 = "permute"
{
  a2: Array1<f64> = permute a1 @0 sum
    extents () { x0: i64 = extent a0 0 -> x0 }
    target (x0: i64) { x1: i64 = a0[x0] @0 inside; x2: i64 = 13; x3: bool = x1 != x2 -> x3, x1 }
    element (x0: i64) { x1: f64 = as f64 x0 -> x1 }
    comb (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
  -> a2, a1
}"#;

#[test]
fn permute_combines_leaves_out_and_checks() {
    let k = compile(PERMUTE);
    let (targets, defaults): (Vec<i64>, Vec<f64>) = ((0..50_000).map(|i| i % 100).collect(), vec![0.5; 100]);
    let out = k.run(vec![array(&[50_000], targets.clone()), array(&[100], defaults.clone())]).unwrap();
    let mut expected = defaults.clone();
    targets.iter().enumerate().filter(|(_, t)| **t != 13).for_each(|(i, t)| expected[*t as usize] += i as f64);
    assert_eq!(f64s(&out[0]), expected);
    assert_eq!(f64s(&out[1]), defaults, "the caller's array is not changed");
    let e = k.run(vec![array(&[3], vec![0i64, 100, -1]), array(&[100], defaults)]).unwrap_err();
    assert_eq!(e.to_string(), "`permute`: index [100] is outside the shape [100]");
}

const CHECKED: &str = r#"program (a0: Array1<i64>, a1: Array2<i64>)
site 0 = "map"
site 1 = "index"
{
  a2: Array1<i64> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: i64 = a0[x0] @1; x2: i64 = a1[x1, x1] @1; x3: i64 = 100; x4: i64 = x3 / x2 -> x4 }
  -> a2
}"#;

#[test]
fn errors_name_the_operation_and_the_first_place() {
    let k = compile(CHECKED);
    let run = |n: usize, at: usize, i: i64, diagonal: i64| {
        let mut index = vec![0; n];
        index[at] = i;
        index[n - 1] = i;
        k.run(vec![array(&[n], index), array(&[2, 3], vec![5, 0, 0, 0, diagonal, 0])])
    };
    assert_eq!(i64s(&run(4, 2, 1, -1).unwrap()[0]), [20, 20, -100, -100]);
    // The last element is out of bounds as well. Its task must not report it.
    for n in [4, 200_000] {
        assert_eq!(
            run(n, 2, 2, 1).unwrap_err().to_string(),
            "`index` in `map`: index [2, 2] is outside the shape [2, 3]"
        );
        assert_eq!(run(n, 2, 1, 0).unwrap_err().to_string(), "/ in `map`: integer division by zero");
    }
}

#[test]
fn extents_are_checked_and_memory_may_be_missing() {
    let k = compile(
        r#"program (a0: Array1<i64>)
site 0 = "generate"
{
  a1: Array2<f64> = loop @0
    extents () { x0: i64 = 0; x1: i64 = a0[x0] @0; x2: i64 = 1; x3: i64 = a0[x2] @0 -> x1, x3 }
    body (x0: i64, x1: i64) { x2: f64 = 1.0 -> x2 }
  -> a1
}"#,
    );
    let run = |m: i64, n: i64| k.run(vec![array(&[2], vec![m, n])]);
    assert_eq!(&*run(0, 5).unwrap()[0].extents, [0, 5]);
    assert!(matches!(run(-1, 5), Err(Error::Shape { .. })));
    assert!(matches!(run(1 << 40, 1 << 40), Err(Error::Memory { .. })), "the size overflows");
    assert!(matches!(run(1 << 30, 1 << 20), Err(Error::Memory { .. })), "more than there is");
    let e = k.run(vec![array(&[1], vec![1i64])]).unwrap_err();
    assert_eq!(e.to_string(), "`generate`: index [1] is outside the shape [1]");
}

/// Counts `a1` down, with the state `a0`. `body` computes `a5` from it, and can use `a2` and the counter `a3`.
fn countdown(body: &str) -> Kernels {
    compile(&format!(
        r#"program (a0: Array1<i64>, a1: Array0<i64>)
site 0 = "awhile"
{{
  a2: Array1<i64>, a3: Array0<i64> = while a0, a1 @0
    cond {{
      a4: Array0<bool> = loop @0
        extents () {{ -> }}
        body () {{ x0: i64 = a3[] @0 inside; x1: i64 = 0; x2: bool = x0 > x1 -> x2 }}
      -> a4
    }}
    body {{
      {body}
      a6: Array0<i64> = loop @0
        extents () {{ -> }}
        body () {{ x0: i64 = a3[] @0 inside; x1: i64 = 1; x2: i64 = x0 - x1 -> x2 }}
      -> a5, a6
    }}
  -> a2, a0
}}"#
    ))
}

#[test]
fn a_loop_of_ten_thousand_iterations() {
    let k = countdown(
        r#"a5: Array1<i64> = loop @0
        extents () { x0: i64 = extent a2 0 -> x0 }
        body (x0: i64) { x1: i64 = a2[x0] @0 inside; x2: i64 = 1; x3: i64 = x1 + x2 -> x3 }"#,
    );
    let input = array(&[10], (0..10i64).collect::<Vec<_>>());
    for n in [0, 1, 2, 10_000] {
        let out = k.run(vec![input.clone(), array(&[], vec![n])]).unwrap();
        assert_eq!(i64s(&out[0]), (n..n + 10).collect::<Vec<_>>());
        assert_eq!(out[1], input, "the caller's array is not changed");
    }
    // The first step writes new memory with non-temporal stores, as it is large. The other steps overwrite this memory.
    let large: Vec<i64> = (0..5_000_001).collect();
    let input = array(&[large.len()], large.clone());
    for n in [1, 3] {
        let out = k.run(vec![input.clone(), array(&[], vec![n])]).unwrap();
        assert!(i64s(&out[0]).iter().zip(&large).all(|(found, x)| *found == x + n));
        assert_eq!(out[1], input);
    }
}

#[test]
fn programs_run_inside_of_a_pool() {
    use rayon::prelude::*;
    let k = compile(&rows_program("reduce @0", "Array1<i64, i64>", INIT));
    let input = matrix(3, 100_000).0;
    let expected = k.run(vec![input.clone()]).unwrap();
    (0..16).into_par_iter().for_each(|_| assert_eq!(k.run(vec![input.clone()]).unwrap(), expected));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| k.run(vec![input.clone()])).unwrap(), expected, "{threads} threads");
    }
}

#[test]
fn three_thousand_statements() {
    let statement = |k: usize| {
        let from = k / 2;
        format!(
            "a{k}: Array1<i64> = loop @0 extents () {{ x0: i64 = extent a{from} 0 -> x0 }} \
             body (x0: i64) {{ x1: i64 = a{from}[x0] @0 inside; x2: i64 = {k}; x3: i64 = x1 + x2 -> x3 }}\n"
        )
    };
    let statements: String = (1..=3000).map(statement).collect();
    let k = compile(&format!("program (a0: Array1<i64>)\nsite 0 = \"map\"\n{{\n{statements}\n  -> a3000, a2999\n}}"));
    let out = k.run(vec![array(&[2], vec![0i64, 1_000_000])]).unwrap();
    let sum = |n: i64| std::iter::successors(Some(n), |k| Some(k / 2)).take_while(|k| *k > 0).sum::<i64>();
    assert_eq!(i64s(&out[0]), [sum(3000), 1_000_000 + sum(3000)]);
    assert_eq!(i64s(&out[1]), [sum(2999), 1_000_000 + sum(2999)]);
}

#[test]
fn one_program_in_many_threads() {
    let k = compile(&rows_program("scan @0", "Array2<i64, i64>", INIT));
    let inputs: Vec<_> = (1..=16).map(|i| matrix(3, 5_000 * i).0).collect();
    let expected: Vec<_> = inputs.iter().map(|a| k.run(vec![a.clone()]).unwrap()).collect();
    std::thread::scope(|s| {
        for (a, e) in inputs.iter().zip(&expected) {
            s.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(k.run(vec![a.clone()]).unwrap(), *e);
                    // Compiling at the same time as other threads is safe as well.
                    compile(CHECKED);
                }
            });
        }
    });
}

#[test]
fn wrong_programs_and_inputs_are_errors() {
    let mut p = program(PERMUTE).into_inner();
    p.results.push(ArrayId::new(99));
    assert!(Verified::new(p).is_err());
    let k = compile(PERMUTE);
    assert!(k.run(vec![]).is_err());
    assert!(k.run(vec![array(&[1], vec![1.0]), array(&[1], vec![1.0])]).is_err());
    assert!(k.run(vec![array(&[2], vec![1i64]), array(&[1], vec![1.0])]).is_err());
}
