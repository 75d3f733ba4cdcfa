//! Statements that add to sums: results do not depend on the number of threads, and the first failure is reported.

use crate::support::{array, compile, f64s};
use accel_core::error::Error;
use accel_core::prelude::*;
use accel_core::repr::RawArray;
use accel_fusion::kernel::{evaluate, parse};
use accel_native::{Kernels, Native};

/// Each index adds its element, divided by 1 to 5, to five targets, and to a number.
const PROGRAM: &str = r#"program (a0: Array1<f64>, a1: Array1<i64>, a2: Array1<f64>)
site 0 = "map"
{
  a3: Array0<f64> = loop @0
    extents () { -> }
    body () { x0: f64 = 0.0 -> x0 }
  a4: Array1<f64>, a5: Array1<f64>, a6: Array0<f64> = accumulate a2, a3 @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) {
      x1: f64 = a0[x0] @0 inside
      x2: i64 = a1[x0] @0
      x3: i64 = 0
      x4: i64 = while x3 cond {
        x5: i64 = 5
        x6: bool = x4 < x5
        -> x6
      } body {
        x7: i64 = 1
        x8: i64 = x4 + x7
        x9: f64 = as f64 x8
        x10: f64 = x1 / x9
        x11: i64 = x2 + x4
        () = emit a5[x11] x10 @0
        () = emit a6[] x10 @0
        -> x8
      }
      -> x1
    }
  -> a4, a5, a6
}"#;

/// The elements, the first target of each, and the initial value of the sum of `m` elements.
fn inputs(n: usize, m: usize) -> Vec<RawArray> {
    let xs = (0..n).map(|i| 1.0 / (i % 1009 + 1) as f64).collect::<Vec<f64>>();
    let targets = (0..n).map(|i| (i * 7919 % (m - 4)) as i64).collect::<Vec<_>>();
    vec![array(&[n], xs), array(&[n], targets), array(&[m], vec![0.25; m])]
}

fn evaluated(inputs: &[RawArray]) -> Vec<RawArray> {
    evaluate(&parse(PROGRAM).unwrap(), &inputs.iter().cloned().collect()).unwrap()
}

/// With few and many elements, and with small and large sums.
const SIZES: [(usize, usize); 5] = [(0, 7), (1, 7), (3000, 7), (3000, 2000), (3000, 30_000)];

#[test]
fn results_are_those_of_the_evaluator() {
    let k: Kernels = compile(PROGRAM);
    for (n, m) in SIZES {
        let inputs = inputs(n, m);
        let expected = evaluated(&inputs);
        let found = k.run(inputs).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
            assert!(f64s(found).iter().zip(f64s(expected)).all(close), "{n} elements, {m} targets");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let k: Kernels = compile(PROGRAM);
    for (n, m) in [(3000, 7), (300_000, 7), (300_000, 50_000), (200_000, 400_000)] {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| k.run(inputs(n, m)).unwrap())
        };
        let first = run(1);
        for threads in 2..=5 {
            for (found, expected) in run(threads).iter().zip(&first) {
                let bits = |a: &RawArray| f64s(a).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(found), bits(expected), "{n} elements, {m} targets, {threads} threads");
            }
        }
    }
}

#[test]
fn the_first_mistake_is_told() {
    let k: Kernels = compile(PROGRAM);
    for (n, m) in [(100, 10), (300_000, 17), (20_000, 150_000)] {
        let mut inputs = inputs(n, m);
        let mut targets: Vec<i64> = vec![0; n];
        [(n - 1, 3), (n / 2 + 1, 2), (n / 3, 1)].iter().for_each(|(i, by)| targets[*i] = (m + by) as i64);
        inputs[1] = array(&[n], targets);
        match k.run(inputs) {
            Err(Error::OutOfBounds { index, shape, .. }) => assert_eq!((index, shape), (vec![m as i64 + 1], vec![m])),
            other => panic!("{other:?}"),
        }
    }
}

/// Two sums read the rows of one array, by each of its other dimensions: each has a transposed copy of its own.
#[test]
fn operands_are_transposed_in_two_ways() {
    let prog = afun(|xs: Acc<Matrix<f64>>, ys: Acc<Array<Dim3, f64>>| {
        let ((n, _), (m, _, d)) = (xs.shape(), ys.shape());
        let distance = |x: Exp<f64>, y: Exp<f64>| (x - y).abs();
        let straight = generate((m, n, m, d), |(l, i, j, k)| distance(xs.at((i, k)), ys.at((l, j, k))));
        let crossed = generate((m, n, m, d), |(l, i, j, k)| distance(xs.at((i, k)), ys.at((j, l, k))));
        (sum(straight), sum(crossed))
    });
    let (n, m, d) = (4, 5, 6);
    let x = |i: usize, k: usize| (i * d + k) as f64 / 4.0;
    let y = |l: usize, j: usize, k: usize| ((l * m + j) * d + k) as f64 / 2.0;
    let xs = Array::from_extents(&[n, d], (0..n * d).map(|p| x(p / d, p % d)).collect()).unwrap();
    let ys = (0..m * m * d).map(|p| y(p / d / m, p / d % m, p % d)).collect();
    let ys = Array::from_extents(&[m, m, d], ys).unwrap();
    let (straight, crossed) = run_with(&Native, &prog, (&xs, &ys)).unwrap();
    for p in 0..m * n * m {
        let (l, i, j) = (p / m / n, p / m % n, p % m);
        let expected = |y: &dyn Fn(usize) -> f64| (0..d).map(|k| (x(i, k) - y(k)).abs()).sum::<f64>();
        assert_eq!(straight.as_slice()[p], expected(&|k| y(l, j, k)), "{l} {i} {j}");
        assert_eq!(crossed.as_slice()[p], expected(&|k| y(j, l, k)), "{l} {i} {j}");
    }
}
