//! Functions of rows: sums of exponentials and the norm, at ordinary and at extreme points.

use crate::harness::{V, smooth};
use crate::higher_order::{all_modes, hessian};
use crate::refined::{Any, FewValues, NonEmpty};
use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::native::Native;
use accel::prelude::*;

const INFINITY: f64 = f64::INFINITY;

fn weighted(xs: V) -> Acc<Scalar<f64>> {
    sum(imap(|i, x: Exp<f64>| x * (i.cast::<f64>() + 1.0).sin(), xs))
}

#[test]
fn derivatives() {
    smooth(NonEmpty, log_sum_exp);
    smooth(NonEmpty, |a: V| weighted(softmax(a)));
    smooth(NonEmpty, |a: V| weighted(log_softmax(a)));
    smooth(NonEmpty, |a: V| norm(map(|x| x * x + 1.0, a)));
    // Ties.
    smooth(FewValues, |a: V| log_sum_exp(a));
}

#[test]
fn second_derivatives() {
    hessian(Any, log_sum_exp);
    hessian(FewValues, |a: V| weighted(log_softmax(a)));
    all_modes(|a: V| weighted(softmax(a)));
    all_modes(|a: V| norm(map(|x| x * x + 1.0, a)));
}

/// Runs on two backends, which must agree with what is expected but for a few units in the last place.
fn check(f: Afun<Vector<f64>, Vector<f64>>, cases: &[(&[f64], &[f64])]) {
    for (xs, expected) in cases {
        for backend in [&Interpreter as &dyn Backend, &Native] {
            let found = run_on(backend, &f, &Array::vector(xs.to_vec())).unwrap().to_vec();
            let close =
                |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 4.0 * f64::EPSILON * b.abs();
            let same = found.len() == expected.len() && found.iter().zip(*expected).all(|(a, b)| close(*a, *b));
            assert!(same, "{} at {xs:?}: {found:?}, and not {expected:?}", backend.name());
        }
    }
}

/// The references are computed with 60 digits (mpmath).
#[test]
fn log_sum_exp_at_extremes() {
    check(
        afun(|a: V| reshape(1, log_sum_exp(a))),
        &[
            (&[0.0, -40.0], &[4.248354255291589e-18]),
            (&[1000.0, 1000.0], &[1000.6931471805599]),
            (&[-1000.0, -1000.0, -1001.0], &[-999.1380051959418]),
            (&[0.01], &[0.01]),
            (&[1e300, -1e300], &[1e300]),
            (&[-INFINITY, 2.0], &[2.0]),
            (&[-INFINITY, -INFINITY], &[-INFINITY]),
            (&[INFINITY, 1.0], &[INFINITY]),
            (&[f64::NAN, 1.0], &[f64::NAN]),
            (&[], &[-INFINITY]),
        ],
    );
    check(
        grad(&afun(|a: V| log_sum_exp(a))),
        &[
            (&[1000.0, 1000.0], &[0.5, 0.5]),
            (&[0.0, -40.0], &[1.0, 4.248354255291589e-18]),
            (&[-1000.0, 1000.0], &[0.0, 1.0]),
            (&[-INFINITY, 2.0], &[0.0, 1.0]),
            (&[-INFINITY, -INFINITY], &[0.0, 0.0]),
        ],
    );
}

#[test]
fn softmax_at_extremes() {
    check(
        afun(|a: V| softmax(a)),
        &[
            (&[1000.0, 0.0, -1000.0], &[1.0, 0.0, 0.0]),
            (&[-700.0, 0.0], &[9.85967654375977e-305, 1.0]),
            (&[-INFINITY, 3.0], &[0.0, 1.0]),
            (&[-INFINITY, -INFINITY], &[0.0, 0.0]),
            (&[], &[]),
        ],
    );
    check(
        afun(|a: V| log_softmax(a)),
        &[
            (&[0.0, -40.0], &[-4.248354255291589e-18, -40.0]),
            (&[1000.0, 0.0], &[0.0, -1000.0]),
            (&[-INFINITY, 3.0], &[-INFINITY, 0.0]),
            (&[-INFINITY, -INFINITY], &[-INFINITY, -INFINITY]),
            (&[], &[]),
        ],
    );
}

#[test]
fn norm_at_extremes() {
    check(
        afun(|a: V| reshape(1, norm(a))),
        &[
            (&[3.0, -4.0], &[5.0]),
            (&[3e200, 4e200], &[5e200]),
            (&[3e-200, 4e-200], &[5e-200]),
            (&[-INFINITY, 1.0], &[INFINITY]),
            (&[0.0, 0.0], &[0.0]),
            (&[], &[0.0]),
        ],
    );
    check(
        grad(&afun(|a: V| norm(a))),
        &[
            (&[3e200, -4e200], &[0.6, -0.8]),
            (&[3e-200, 4e-200], &[0.6, 0.8]),
            (&[5e-324, 0.0], &[1.0, 0.0]),
            (&[0.0, 0.0], &[0.0, 0.0]),
        ],
    );
}

/// The largest element shifts the row, and has no part in the derivative: that of equal elements is as precise as that of others.
#[test]
fn derivatives_of_many_elements() {
    let n = 1000;
    let gradient = run(grad(&afun(|a: V| log_sum_exp(a))), &Array::vector(vec![0.3; n])).unwrap().to_vec();
    assert!(gradient.iter().all(|d| (d - 1e-3).abs() <= 4.0 * f64::EPSILON * 1e-3), "{gradient:?}");
}

/// Rows of a matrix.
#[test]
fn any_rank() {
    let m = Array::matrix(2, 2, vec![0.0f32, 0.0, 3.0, 4.0]).unwrap();
    let f = afun(|m: Acc<Matrix<f32>>| (norm(m), log_sum_exp(m), softmax(m), log_softmax(m)));
    let (length, log, weights, logs) = run(&f, &m).unwrap();
    assert_eq!(length.to_vec(), [0.0, 5.0]);
    let ln_2 = std::f32::consts::LN_2;
    let close = |found: Vec<f32>, expected: &[f32]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 4.0 * f32::EPSILON * b.abs()), "{found:?}");
    };
    close(log.to_vec(), &[ln_2, 4.313_261_7]);
    close(weights.to_vec(), &[0.5, 0.5, 0.268_941_43, 0.731_058_6]);
    close(logs.to_vec(), &[-ln_2, -ln_2, -1.313_261_7, -0.313_261_7]);
}
