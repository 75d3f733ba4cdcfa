//! A table of cases in which other systems have wrong derivatives, mostly NaN, as their issue trackers show. Each row has the right
//! derivatives, in all ways to differentiate: arrays in reverse and forward mode on several backends, traces, `gradient` in scalar
//! code, and ordinary code with dual numbers in both modes.
//!
//! Cases without derivatives, or with one way to differentiate, are tested elsewhere: special functions and `f32` in `special_values`,
//! extents that are computed numbers in `accel-fusion` (`computed_extents`), lengths of segments that wrap in
//! `language/errors.rs`, and everything that is not used in `strong_zeros`.

use crate::harness::V;
use crate::strong_zeros::{gradient as of_arrays, same, unit_vector};
use accel::dual::{self, Real};
use accel::prelude::*;

/// Functions of two numbers.
macro_rules! numbers {
    ($($name:ident: $at:expr => $wanted:expr, |$x:pat_param, $y:pat_param, $lit:pat_param| $f:expr;)*) => { $(
        #[test]
        fn $name() {
            fn plain<T: Real>(($x, $y): (T, T)) -> T {
                let $lit = T::lit;
                $f
            }
            fn staged(($x, $y): (Exp<f64>, Exp<f64>)) -> Exp<f64> {
                let $lit = lit::<f64>;
                $f
            }
            let (at, wanted): ((f64, f64), (f64, f64)) = ($at, $wanted);
            let wanted = [wanted.0, wanted.1];
            of_arrays(&[&[at.0, at.1]], &wanted, |x| unit(staged((x.at(0), x.at(1)))));
            let scalar = afun(|xs: Acc<Vector<(f64, f64)>>| map(|(x, y)| gradient(staged, (x, y)), xs));
            let pairs = |found: (f64, f64)| [found.0, found.1];
            same("scalar code", &pairs(run(&scalar, &Array::vector(vec![at])).unwrap().to_vec()[0]), &wanted);
            same("dual numbers", &pairs(dual::grad(plain, &at).unwrap()), &wanted);
            let along = |dx, dy| dual::jvp(plain, &at, &(dx, dy)).unwrap().1;
            same("dual numbers, forward", &[along(1.0, 0.0), along(0.0, 1.0)], &wanted);
        }
    )* };
}

numbers! {
    // The infinite derivative of the root meets the factor 0.
    norm_squared: (0.0, 0.0) => (0.0, 0.0), |x, y, _| { let n = (x * x + y * y).sqrt(); n * n };
    recip_of_one_and_norm: (0.0, 0.0) => (0.0, 0.0), |x, y, lit| {
        let n = (x * x + y * y).sqrt();
        (lit(1.0) + n * n).sqrt().recip()
    };
    norm: (0.0, 0.0) => (0.0, 0.0), |x, y, _| (x * x + y * y).sqrt();
    hypot: (0.0, 0.0) => (0.0, 0.0), |x, y, _| x.hypot(y);
    root_of_square_of_product: (0.0, 1.0) => (0.0, 0.0), |x, w, _| ((x * w) * (x * w)).sqrt();
    root_that_underflows: (1600.0, 1.0) => (0.0, 1.0), |x, y, _| (-x).exp().sqrt() + y;
    times_zero: (0.0, 1.0) => (0.0, 0.5), |x, y, lit| x.sqrt() * lit(0.0) + y.sqrt();
    power_of_zero: (0.0, 0.0) => (0.0, 0.0), |x, y, _| x.powf(y);
    square_of_zero: (0.0, 2.0) => (0.0, 0.0), |x, y, _| x.powf(y);
    entropy_of_zero: (0.0, 0.5) => (0.5f64.ln(), 0.0), |x, y, _| x.xlogy(y);
    // The textbook's forms: infinity times 0, and infinity by infinity.
    logistic_on_the_left: (-1000.0, 1.0) => (0.0, 1.0), |x, y, lit| lit(1.0) / (lit(1.0) + (-x).exp()) + y;
    logistic_on_the_right: (1000.0, 1.0) => (0.0, 1.0), |x, y, lit| lit(1.0) / (lit(1.0) + (-x).exp()) + y;
    softplus_on_the_left: (-1000.0, 1.0) => (0.0, 1.0), |x, y, lit| (lit(1.0) + x.exp()).ln() + y;
    // The functions for them.
    sigmoid_far_away: (-1000.0, 1000.0) => (0.0, 0.0), |x, y, _| x.sigmoid() + y.sigmoid();
    softplus_far_away: (-1000.0, 1000.0) => (0.0, 1.0), |x, y, _| x.softplus() + y.softplus();
    softplus_at_zero: (0.0, 1.0) => (0.5, 1.0), |x, y, _| x.softplus() + y;
    log_add_exp_at_a_tie: (3.0, 3.0) => (0.5, 0.5), |x, y, _| x.log_add_exp(y);
    // Derivatives that are representable, but not their usual formulas.
    tanh_far_away: (20.0, -20.0) => (1.699_341_702_116_635_5e-17, 1.699_341_702_116_635_5e-17), |x, y, _| x.tanh() + y.tanh();
    exp_m1_on_the_left: (-50.0, 0.0) => ((-50f64).exp(), 1.0), |x, y, _| x.exp_m1() + y.exp_m1();
    asinh_and_acosh_of_large_numbers: (1e200, 1e200) => (1e-200, 1e-200), |x, y, _| x.asinh() + y.acosh();
    atan2_of_large_numbers: (1e200, 1e200) => (0.5e-200, -0.5e-200), |y, x, _| y.atan2(x);
    atan2_of_small_numbers: (1e-200, 1e-200) => (0.5e200, -0.5e200), |y, x, _| y.atan2(x);
    atan2_of_zeros: (0.0, 0.0) => (0.0, 0.0), |y, x, _| y.atan2(x);
}

/// Programs on vectors.
macro_rules! vectors {
    ($($name:ident: $at:expr => $wanted:expr, |$a:ident| $staged:expr, |$x:ident| $plain:expr;)*) => { $(
        #[test]
        fn $name() {
            fn plain<T: Real>($x: &[T]) -> T {
                $plain
            }
            let (at, wanted): (Vec<f64>, Vec<f64>) = ($at.to_vec(), $wanted.to_vec());
            of_arrays(&[&at], &wanted, |$a: V| $staged);
            same("dual numbers", &dual::grad(|x: Vec<_>| plain(&x), &at).unwrap(), &wanted);
            let along = |k| dual::jvp(|x: Vec<_>| plain(&x), &at, &unit_vector(at.len(), k)).unwrap().1;
            same("dual numbers, forward", &(0..at.len()).map(along).collect::<Vec<f64>>(), &wanted);
        }
    )* };
}

fn roots(xs: V) -> V {
    map(|x| x.sqrt(), xs)
}

fn plain_roots<T: Real>(xs: &[T]) -> Vec<T> {
    xs.iter().map(|x| x.sqrt()).collect()
}

vectors! {
    dropped: [0.0, 1.0] => [0.0, 0.5], |x| sum(skip(1, roots(x))), |x| plain_roots(x)[1];
    not_gathered: [0.0, 1.0] => [0.0, 0.5],
        |x| { let y = roots(x); sum(generate(1, move |i| y.at(i + 1))) },
        |x| plain_roots(x)[1];
    dropped_by_permute: [0.0, 1.0] => [0.0, 0.5],
        |x| sum(permute(|n, o| n + o, fill(2, 0.0), |i| (x.at(i).gt(0.0), i), roots(x))),
        |x| x.iter().zip(plain_roots(x)).filter(|(x, _)| **x > T::zero()).map(|(_, r)| r).sum();
    left_out_later: [0.0, 1.0] => [0.0, 0.5],
        |x| sum(zip_with(|x, r| cond(x.gt(0.0), r, 0.0), x, roots(x))),
        |x| x.iter().zip(plain_roots(x)).map(|(x, r)| if *x > T::zero() { r } else { T::zero() }).sum();
    left_out_at_once: [0.0, 1.0] => [0.0, 0.5],
        |x| sum(map(|x| cond(x.gt(0.0), x.sqrt(), 0.0), x)),
        |x| x.iter().map(|x| if *x > T::zero() { x.sqrt() } else { T::zero() }).sum();
    masked_after_atan2: [0.0, 1.0] => [0.0, -0.5],
        |x| sum(imap(|i, y| i.cast::<f64>() * y, map(|x| x.atan2(x * x), x))),
        |x| x.iter().enumerate().map(|(i, x)| T::lit(i as f64) * x.atan2(*x * *x)).sum();
    rows_of_norm_zero: [3.0, 4.0, 0.0, 0.0] => [0.6, 0.8, 0.0, 0.0],
        |x| sum(map(|n| cond(n.gt(0.5), n, 1.0), roots(sum(map(|x| x * x, reshape((2, 2), x)))))),
        |x| {
            let norms = x.chunks(2).map(|x| (x[0] * x[0] + x[1] * x[1]).sqrt());
            norms.map(|n| if n > T::lit(0.5) { n } else { T::one() }).sum()
        };
    deviation_of_equal_numbers: [3.0; 4] => [0.0; 4],
        |x| {
            let mean = the(sum(x)) / 4.0;
            map(|s| (s / 4.0).sqrt(), sum(map(move |x| (x - mean) * (x - mean), x)))
        },
        |x| {
            let mean = x.iter().copied().sum::<T>() / T::lit(4.0);
            (x.iter().map(|x| (*x - mean) * (*x - mean)).sum::<T>() / T::lit(4.0)).sqrt()
        };
}
