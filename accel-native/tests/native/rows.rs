//! Reductions and scans of long rows by recognised operators, compared with plain loops.

use crate::support::{array, compile, f64s, numbers};
use accel_core::repr::{Column, RawArray};

fn reduction(types: &str, element: &str, op: &str) -> String {
    format!(
        r#"program (a0: Array1<f64>)
site 0 = "fold"
{{
  a1: Array0<{types}> = reduce @0
    extents () {{ -> }}
    len () {{ x0: i64 = extent a0 0 -> x0 }}
    element (x0: i64) {{ {element} }}
    op {op}
  -> a1
}}"#
    )
}

/// Sizes around the limits of lanes, of blocks of candidates, and of parts.
const SIZES: [usize; 9] = [1, 2, 127, 257, 513, 4099, 65_537, 300_001, 1_000_000];

fn first_and_second(a: &RawArray) -> (i64, f64) {
    match (&a.columns[0], &a.columns[1]) {
        (Column::I64(x), Column::F64(y)) => (x[0], y[0]),
        _ => panic!("a column of integers and one of numbers"),
    }
}

/// The first smallest element and its position; NaN is greater than everything.
#[test]
fn positions_of_least_elements() {
    let element = "x1: f64 = a0[x0] @0 inside -> x0, x1";
    let forms = [
        "(x0: i64, x1: f64, x2: i64, x3: f64) {
           x4: bool = x3 < x1; x5: bool = not x4; x6: bool = x1 == x1; x7: bool = x5 && x6
           x8: i64, x9: f64 = if x7 { -> x0, x1 } else { -> x2, x3 } -> x8, x9 }",
        "(x0: i64, x1: f64, x2: i64, x3: f64) {
           x4: bool = x3 < x1; x5: bool = x1 != x1; x6: bool = x4 || x5
           x7: i64, x8: f64 = if x6 { -> x2, x3 } else { -> x0, x1 } -> x7, x8 }",
    ];
    for form in forms {
        let k = compile(&reduction("i64, f64", element, form));
        for n in SIZES {
            let falling: Vec<f64> = (0..n).map(|i| -(i as f64)).collect();
            let ties: Vec<f64> = (0..n).map(|i| (i * 7919 % 100) as f64).collect();
            let mut missing = numbers(n);
            missing.iter_mut().step_by(2).for_each(|x| *x = f64::NAN);
            for xs in [numbers(n), falling, ties, missing, vec![f64::INFINITY; n]] {
                let expected = xs
                    .iter()
                    .enumerate()
                    .fold((0, xs[0]), |(i, x), (j, y)| if *y < x || x.is_nan() { (j as i64, *y) } else { (i, x) });
                let found = first_and_second(&k.run(vec![array(&[n], xs)]).unwrap()[0]);
                let same =
                    found.0 == expected.0 && (found.1 == expected.1 || (found.1.is_nan() && expected.1.is_nan()));
                // If all elements are NaN, any position is right: there is no smallest element.
                assert!(same || (found.1.is_nan() && expected.1.is_nan()), "{n}: {found:?} is not {expected:?}");
            }
        }
    }
}

/// The number of positive elements, and the greatest element that is not positive.
#[test]
fn a_sum_beside_a_maximum() {
    let element = "x1: f64 = a0[x0] @0 inside; x2: f64 = 0.0; x3: bool = x1 > x2
        x4: i64, x5: f64 = if x3 { x6: i64 = 1; x7: f64 = -9.0 -> x6, x7 } else { x8: i64 = 0 -> x8, x1 } -> x4, x5";
    let op = "(x0: i64, x1: f64, x2: i64, x3: f64) { x4: i64 = x0 + x2; x5: f64 = max x1 x3 -> x4, x5 }";
    let k = compile(&reduction("i64, f64", element, op));
    for n in SIZES {
        let mut xs = numbers(n);
        xs[n / 2] = f64::NAN;
        let count = xs.iter().filter(|x| **x > 0.0).count() as i64;
        let greatest = xs.iter().map(|x| if *x > 0.0 { -9.0 } else { *x }).fold(f64::NAN, f64::max);
        let (found_count, found) = first_and_second(&k.run(vec![array(&[n], xs)]).unwrap()[0]);
        assert_eq!(found_count, count);
        assert!(found == greatest || (found.is_nan() && greatest.is_nan()), "{n}: {found} is not {greatest}");
    }
}

#[test]
fn sums_of_beginnings_and_of_ends() {
    for (reverse, init) in
        [(false, ""), (true, ""), (false, "init () { x0: f64 = 0.5 -> x0 }"), (true, "init () { x0: f64 = 0.5 -> x0 }")]
    {
        let k = compile(&format!(
            r#"program (a0: Array1<f64>)
site 0 = "scan"
{{
  a1: Array1<f64> = scan @0 {} sum
    extents () {{ -> }}
    len () {{ x0: i64 = extent a0 0 -> x0 }}
    element (x0: i64) {{ x1: f64 = a0[x0] @0 inside -> x1 }}
    {init}
    op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
  -> a1
}}"#,
            if reverse { "reverse" } else { "" }
        ));
        for n in [0].into_iter().chain(SIZES) {
            let mut xs = numbers(n);
            let found = k.run(vec![array(&[n], xs.clone())]).unwrap();
            if reverse {
                xs.reverse();
            }
            let mut expected: Vec<f64> = if init.is_empty() { vec![] } else { vec![0.5] };
            let mut total = expected.iter().sum::<f64>();
            for x in xs {
                total += x;
                expected.push(total);
            }
            if reverse {
                expected.reverse();
            }
            assert_eq!(f64s(&found[0]).len(), expected.len());
            for (x, y) in f64s(&found[0]).iter().zip(&expected) {
                assert!((x - y).abs() < 1e-9, "{n} elements, reverse {reverse}: {x} is not {y}");
            }
        }
    }
}
