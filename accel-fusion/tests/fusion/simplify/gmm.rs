//! The gradient of the Gaussian mixture objective: its results, size and time before and after simplification.

use super::support::{derivative, simple};
use accel_ad::value_and_grad;
use accel_core::interp::Interpreter;
use accel_core::pass::count;
use accel_core::prelude::*;
use std::time::Instant;

#[path = "../../../../examples/gmm/objective.rs"]
mod objective;
use objective::{constant_term, objective};

fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| ((i as f64 + 1.0) * seed).sin()).collect()
}

#[test]
fn the_gradient_is_smaller_and_the_same() {
    let (n, d, k) = (200, 5, 4);
    let x: Matrix<f64> = Array::matrix(n, d, numbers(n * d, 0.7)).unwrap();
    let (gamma, m, constant): (Scalar<f64>, Scalar<f64>, Scalar<f64>) =
        (Array::scalar(1.0), Array::scalar(0.5), Array::scalar(constant_term(n, d, k, 1.0, 0)));
    let prog = afun(|alphas: Acc<Vector<f64>>, means: Acc<Matrix<f64>>, icf: Acc<Matrix<f64>>| {
        objective((alphas, means, icf), use_(&x), (use_(&gamma), use_(&m), use_(&constant)))
    });
    let alphas: Vector<f64> = Array::vector(numbers(k, 1.3));
    let means: Matrix<f64> = Array::matrix(k, d, numbers(k * d, 2.1)).unwrap();
    let icf: Matrix<f64> = Array::matrix(k, d + d * (d - 1) / 2, numbers(k * (d + d * (d - 1) / 2), 0.3)).unwrap();
    let run = |f: &Afun<_, (Scalar<f64>, (Vector<f64>, Matrix<f64>, Matrix<f64>))>| {
        let f = Compiled::new(&Interpreter, f).unwrap();
        let start = Instant::now();
        let result = f.run((&alphas, &means, &icf)).unwrap();
        (result, start.elapsed())
    };
    let plain = value_and_grad(&prog);
    let both = derivative(&value_and_grad(&simple(&prog)));
    let ((v, g), t) = run(&plain);
    let ((v2, g2), t2) = run(&both);
    let (before, after) = (count(plain.program().unwrap()), count(both.program().unwrap()));
    println!("{before:?} in {t:?} -> {after:?} in {t2:?}");
    assert!(after.arrays < 270 && after.array_lets < 55, "{before:?} -> {after:?}");
    // Each derivative of a logarithm has two operations more than its formula: NOTE [Infinite arguments] in `accel-ad`.
    assert!(after.scalars < 1180 && after.scalar_lets < 19, "{before:?} -> {after:?}");
    assert!(after.arrays < before.arrays && after.scalars * 3 < before.scalars * 2, "{before:?} -> {after:?}");
    assert_eq!(v.as_slice(), v2.as_slice());
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs()));
    assert!(close(g.0.as_slice(), g2.0.as_slice()));
    assert!(close(g.1.as_slice(), g2.1.as_slice()));
    assert!(close(g.2.as_slice(), g2.2.as_slice()));
}
