//! Permutations by several threads, compared with plain loops.

use crate::support::{array, compile, f64s, numbers};
use accel_core::error::Error;
use accel_core::repr::{Column, RawArray};
use accel_native::Kernels;

/// A histogram: combines the elements of `a1` at the targets `a0`. An element with a negative target is left out.
fn histogram(known: &str, op: &str) -> Kernels {
    compile(&format!(
        r#"program (a0: Array1<i64>, a1: Array1<f64>, a2: Array1<f64>)
site 0 = "permute"
{{
  a3: Array1<f64> = permute a2 @0 {known}
    extents () {{ x0: i64 = extent a0 0 -> x0 }}
    target (x0: i64) {{ x1: i64 = a0[x0] @0 inside; x2: i64 = 0; x3: bool = x1 >= x2 -> x3, x1 }}
    element (x0: i64) {{ x1: f64 = a1[x0] @0 inside -> x1 }}
    comb (x0: f64, x1: f64) {{ {op} }}
  -> a3
}}"#
    ))
}

/// Sizes of the source and the target: below and above the limit for several threads, with few and with many targets.
const SIZES: [(usize, usize); 9] = [
    (0, 3),
    (5, 1),
    (1000, 10),
    (65_536, 1),
    (70_001, 13),
    (300_000, 5000),
    (300_001, 40_000),
    (100_000, 1_000_003),
    (200_000, 0),
];

/// Targets without a pattern, some of which are negative.
fn targets(n: usize, m: usize) -> Vec<i64> {
    let target = |i: u64| {
        (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as i64 % (m as i64 + m as i64 / 8 + 1) - m as i64 / 8 - 1
    };
    (0..n as u64).map(target).collect()
}

fn inputs(n: usize, m: usize) -> (Vec<RawArray>, Vec<i64>, Vec<f64>, Vec<f64>) {
    let (ts, xs, defaults) = (targets(n, m), numbers(n), numbers(m));
    (vec![array(&[n], ts.clone()), array(&[n], xs.clone()), array(&[m], defaults.clone())], ts, xs, defaults)
}

fn expected(ts: &[i64], xs: &[f64], defaults: &[f64], op: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut all = defaults.to_vec();
    for (t, x) in ts.iter().zip(xs).filter(|(t, _)| **t >= 0) {
        all[*t as usize] = op(*x, all[*t as usize]);
    }
    all
}

#[test]
fn sums_of_few_and_of_many_targets() {
    let k = histogram("sum", "x2: f64 = x0 + x1 -> x2");
    for (n, m) in SIZES {
        let (inputs, ts, xs, defaults) = inputs(n, m);
        let found = k.run(inputs).unwrap();
        for (x, y) in f64s(&found[0]).iter().zip(expected(&ts, &xs, &defaults, |a, b| a + b)) {
            assert!((x - y).abs() < 1e-9, "{n} elements, {m} targets: {x} is not {y}");
        }
    }
}

#[test]
fn greatest_elements_ignore_nan() {
    let k = histogram("max", "x2: f64 = max x0 x1 -> x2");
    for (n, m) in SIZES {
        let (mut inputs, ts, mut xs, mut defaults) = inputs(n, m);
        xs.iter_mut().step_by(3).for_each(|x| *x = f64::NAN);
        defaults.iter_mut().step_by(2).for_each(|x| *x = f64::NAN);
        inputs[1] = array(&[n], xs.clone());
        inputs[2] = array(&[m], defaults.clone());
        let found = k.run(inputs).unwrap();
        let same = |(x, y): (&f64, f64)| *x == y || (x.is_nan() && y.is_nan());
        assert!(
            f64s(&found[0]).iter().zip(expected(&ts, &xs, &defaults, f64::max)).all(same),
            "{n} elements, {m} targets"
        );
    }
}

/// Each part of the elements has targets of its own, which start with the neutral element: no number is greater than all negative
/// ones, less than all positive ones, or 0 as a factor.
#[test]
fn parts_begin_with_the_neutral_element() {
    let operators: [(_, _, fn(f64, f64) -> f64, _); 3] = [
        ("max", "max x0 x1", f64::max, -1.0),
        ("min", "min x0 x1", f64::min, 1.0),
        ("product", "x0 * x1", |a, b| a * b, 1.0),
    ];
    for (known, op, combined, sign) in operators {
        let k = histogram(known, &format!("x2: f64 = {op} -> x2"));
        for (n, m) in SIZES {
            // Powers of two, whose products are exact.
            let xs: Vec<f64> = (0..n).map(|i| sign * [0.5, 2.0][i % 2]).collect();
            let (ts, defaults) = (targets(n, m), vec![sign * 1.25; m]);
            let found = k.run(vec![array(&[n], ts.clone()), array(&[n], xs.clone()), array(&[m], defaults.clone())]);
            let expected = expected(&ts, &xs, &defaults, combined);
            assert_eq!(f64s(&found.unwrap()[0]), expected, "{known}: {n} elements, {m} targets");
        }
    }
}

/// An operator without a known neutral element: every target gets its elements exactly in the order of the source.
#[test]
fn other_operators() {
    let k = histogram("", "x2: f64 = 0.5; x3: f64 = x1 * x2; x4: f64 = x0 + x3 -> x4");
    for (n, m) in SIZES {
        let (inputs, ts, xs, defaults) = inputs(n, m);
        let found = k.run(inputs).unwrap();
        assert_eq!(f64s(&found[0]), expected(&ts, &xs, &defaults, |a, b| a + b * 0.5), "{n} elements, {m} targets");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let k = histogram("sum", "x2: f64 = x0 + x1 -> x2");
    for (n, m) in [(300_000, 17), (200_000, 150_000)] {
        let results: Vec<_> = (1..=5)
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| k.run(inputs(n, m).0).unwrap())
            })
            .collect();
        assert!(results.windows(2).all(|w| w[0] == w[1]), "{n} elements, {m} targets");
    }
}

#[test]
fn the_first_mistake_is_told() {
    let k = histogram("sum", "x2: f64 = x0 + x1 -> x2");
    for (n, m) in [(100, 10), (300_000, 17), (200_000, 150_000)] {
        let (mut inputs, mut ts, ..) = inputs(n, m);
        let wrong = [(n - 1, 3), (n / 2 + 1, 2), (n / 3, 1)];
        wrong.iter().for_each(|(i, by)| ts[*i] = (m + by) as i64);
        inputs[0] = array(&[n], ts);
        match k.run(inputs) {
            Err(Error::OutOfBounds { index, shape, .. }) => assert_eq!((index, shape), (vec![m as i64 + 1], vec![m])),
            other => panic!("{other:?}"),
        }
    }
}

/// If computing a target takes long, and the operator is unknown, one thread does all the work.
#[test]
fn targets_that_take_long() {
    let k = compile(
        r#"program (a0: Array1<i64>, a1: Array1<f64>)
site 0 = "permute"
{
  a2: Array1<f64> = permute a1 @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    target (x0: i64) {
      x1: i64 = a0[x0] @0 inside
      x2: i64 = while x1 cond { x3: i64 = 9; x4: bool = x2 > x3 -> x4 }
        body { x5: i64 = 2; x6: i64 = x2 / x5 -> x6 }
      x7: bool = true
      -> x7, x2
    }
    element (x0: i64) { x1: f64 = as f64 x0 -> x1 }
    comb (x0: f64, x1: f64) { -> x0 }
  -> a2
}"#,
    );
    let n = 100_000;
    let found = k.run(vec![array(&[n], (0..n as i64).collect::<Vec<_>>()), array(&[10], vec![0.5; 10])]).unwrap();
    let mut expected = [0.5; 10];
    for i in 0..n {
        let mut t = i;
        while t > 9 {
            t /= 2;
        }
        expected[t] = i as f64;
    }
    assert_eq!(f64s(&found[0]), expected);
}

/// Elements of two columns, scattered to a matrix.
#[test]
fn pairs_in_a_matrix() {
    let k = compile(
        r#"program (a0: Array1<i64>, a1: Array2<i64, f64>)
site 0 = "permute"
{
  a2: Array2<i64, f64> = permute a1 @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    target (x0: i64) { x1: bool = true; x2: i64 = a0[x0] @0 inside; x3: i64 = 7; x4: i64 = x2 % x3; x5: i64 = x2 / x3 -> x1, x5, x4 }
    element (x0: i64) { x1: f64 = as f64 x0; x2: i64 = 1 -> x2, x1 }
    comb (x0: i64, x1: f64, x2: i64, x3: f64) { x4: i64 = x0 + x2; x5: f64 = x1 + x3 -> x4, x5 }
  -> a2
}"#,
    );
    let (n, rows) = (200_000, 5);
    let ts: Vec<i64> = (0..n as i64).map(|i| i * i % 35).collect();
    let defaults = RawArray {
        extents: vec![rows, 7].into(),
        columns: vec![vec![1i64; 35].into(), vec![0.5f64; 35].into()].into(),
    };
    let found = k.run(vec![array(&[n], ts.clone()), defaults]).unwrap();
    let (mut counts, mut sums) = (vec![1i64; 35], vec![0.5f64; 35]);
    for (i, t) in ts.iter().enumerate() {
        counts[*t as usize] += 1;
        sums[*t as usize] += i as f64;
    }
    assert_eq!(found[0].columns[..], [Column::from(counts), Column::from(sums)]);
}
