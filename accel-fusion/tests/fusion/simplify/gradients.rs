//! Simplified programs and their simplified derivatives give the same results.

use super::support::{derivative, simple};
use accel_ad::{grad, jvp, value_and_grad};
use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use accel_core::surface::fst;
use quickcheck::{TestResult, quickcheck};

type V = Acc<Vector<f64>>;
type Program = Afun<Vector<f64>, Scalar<f64>>;

/// Programs that use most of the language.
fn programs() -> Vec<Program> {
    let matrix = |xs: V| generate((3, xs.shape()), |(i, j)| xs.at(j) * (i + 1).cast::<f64>());
    vec![
        afun(|xs: V| sum(map(|x| x * x, xs))),
        afun(|xs: V| sum(map(|x| cond(x.lt(0.5), x.sin() * x, (x + 2.0).ln()), xs))),
        afun(|xs: V| sum(zip_with(|x, y| x * y, xs, reverse(xs)))),
        afun(|xs: V| product(map(|x| x + 1.5, xs))),
        afun(|xs: V| maximum(map(|x| x * x - x, xs))),
        afun(move |xs: V| sum(sum(matrix(xs)))),
        afun(move |xs: V| sum(map(|x| x.exp(), sum(transpose(matrix(xs)))))),
        afun(|xs: V| {
            let (a, b) = unzip(map(|x| (x.sin(), x.cos() * x), xs));
            sum(zip_with(|a, b| a + b * b, a, b))
        }),
        afun(|xs: V| {
            let total = sum(xs);
            sum(map(|x| x / (the(total) * the(total) + 1.0), xs))
        }),
        afun(|xs: V| {
            let n = xs.shape();
            sum(generate(n, |i| xs.at((i * 7 + 3) % n) * xs.at(i)))
        }),
        afun(|xs: V| acond(constant(3i64).lt(xs.shape()), sum(map(|x| x * 2.0, xs)), sum(map(|x| x * x, xs)))),
        afun(|xs: V| sum(map(|x| fst(pair(x * 1.0 + 0.0, x.sin())), concat(xs, xs)))),
    ]
}

fn close(a: &[f64], b: &[f64]) -> bool {
    let same = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-12 * (1.0 + a.abs()) || (a.is_nan() && b.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(same)
}

quickcheck! {
    fn results_stay(xs: Vec<i8>) -> TestResult {
        if xs.is_empty() {
            return TestResult::discard();
        }
        let xs: Vector<f64> = Array::vector(xs.into_iter().map(|x| f64::from(x) / 32.0).collect());
        for f in programs() {
            let run = |f: &Program| run_with(&Interpreter, f, &xs).unwrap();
            let bits = |a: Scalar<f64>| a.as_slice()[0].to_bits();
            assert_eq!(bits(run(&f)), bits(run(&simple(&f))), "{f}\n{}", simple(&f));
            let gradient = |f: &Afun<Vector<f64>, Vector<f64>>| run_with(&Interpreter, f, &xs).unwrap();
            let plain = gradient(&grad(&f));
            let both = derivative(&grad(&simple(&f)));
            assert!(close(plain.as_slice(), gradient(&both).as_slice()), "{f}\n{both}");
            let (y, dy) = run_with(&Interpreter, &derivative(&jvp(&simple(&f))), (&xs, &xs)).unwrap();
            let (y0, dy0) = run_with(&Interpreter, &jvp(&f), (&xs, &xs)).unwrap();
            assert!(close(y.as_slice(), y0.as_slice()) && close(dy.as_slice(), dy0.as_slice()), "{f}");
        }
        TestResult::passed()
    }
}

#[test]
fn gradients_get_smaller() {
    for f in programs() {
        let (before, after) = (value_and_grad(&f), derivative(&value_and_grad(&simple(&f))));
        let count = |p: &Afun<_, _>| accel_core::pass::count(p.program().unwrap());
        let (b, a) = (count(&before), count(&after));
        assert!(a.arrays < b.arrays && a.scalars <= b.scalars, "{b:?} -> {a:?}\n{before}\n{after}");
        assert!(a.scalar_lets <= b.scalar_lets && a.array_lets <= b.array_lets, "{b:?} -> {a:?}\n{after}");
    }
}

#[test]
fn a_simplified_program_stays_as_it_is() {
    for f in programs() {
        let once = simple(&f);
        assert_eq!(once.to_string(), simple(&once).to_string());
        let gradient = derivative(&grad(&once));
        assert_eq!(gradient.to_string(), derivative(&gradient).to_string());
    }
}

#[test]
fn what_does_not_vary_leaves_no_zeros() {
    type M = Acc<Matrix<f64>>;
    let f = jvp(&afun(|w: M, x: M| matmul(w, x)).by(|(_, x)| x));
    insta::assert_snapshot!(simple(&f), @r"
    fn (a0: ((Array2<f64>, Array2<f64>), Array2<f64>)) -> (Array2<f64>, Array2<f64>)
      let a1 = a0.0.1
      let a2 = a0.1
      let a3 = a0.0.0
      let a4 = agree [inner matmul] (shape a3) (shape a1) a1
      let a5 = replicate [:, (shape a4).1, :] a3
      (
        fold
          (\x0 x1 -> x0 + x1)
          0.0
          (zip_with
            (\x0 x1 -> x0 * x1)
            a5
            (replicate
              [_, :, :]
              (shape a3).0
              (backpermute [(shape a4).1, (shape a4).0.1] (\x0 -> [x0.1, x0.0.1]) a4))),
        fold
          (\x0 x1 -> x0 + x1)
          0.0
          (zip_with
            (\x0 x1 -> strong_mul x1 x0)
            a5
            (replicate
              [_, :, :]
              (shape a3).0
              (backpermute
                [(shape a4).1, (shape a4).0.1]
                (\x0 -> [x0.1, x0.0.1])
                (agree [all jvp] (shape a1) (shape a2) a2))))
      )
    ");
}

/// The adjoint of the tuple of sums is a map of many projections, which is not narrowed to itself again and again.
#[test]
fn a_sum_of_many_sums_is_simplified_once() {
    let f = afun(|xs: V| {
        let sums: Vec<_> = (1..=8).map(|k| sum(map(|x| (x * k as f64).sin(), xs))).collect();
        generate((), |()| sums.iter().fold(lit(0.0), |total, x| total + the(*x)))
    });
    simple(&grad(&f));
}
