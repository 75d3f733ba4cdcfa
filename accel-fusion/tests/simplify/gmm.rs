//! The gradient of a Gaussian mixture's objective: results, size and time before and after.

use crate::support::{derivative, simple};
use accel_ad::value_and_grad;
use accel_core::interp::Interpreter;
use accel_core::pass::count;
use accel_core::prelude::*;
use std::time::Instant;

/// The objective for a mixture of k Gaussians and n points in d dimensions.
///
/// - `alphas [k]`: logarithms of the weights, up to a constant
/// - `means [k, d]`
/// - `icf [k, d + d(d-1)/2]`: for each Gaussian a lower triangular factor of its inverse covariance: the logarithms of
///   its diagonal, then what is below the diagonal, column by column
/// - `x [n, d]`: the points
/// - `gamma`, `m`: scale and degrees of freedom of the prior
/// - `constant`: what does not depend on the parameters ([`constant_term`])
pub fn objective<T: Floating>(
    (alphas, means, icf): (Acc<Vector<T>>, Acc<Matrix<T>>, Acc<Matrix<T>>),
    x: Acc<Matrix<T>>,
    (gamma, m, constant): (Acc<Scalar<T>>, Acc<Scalar<T>>, Acc<Scalar<T>>),
) -> Acc<Scalar<T>> {
    let (n, d) = x.shape();
    let k = alphas.shape();
    let log_diagonal = backpermute((k, d), |(k, j)| (k, j), icf);
    let below = backpermute((k, d * (d - 1) / 2), |(k, j)| (k, d + j), icf);
    let log_det = sum(log_diagonal);

    // Each point's distance from each mean, multiplied by the factor of that Gaussian: [n, k, d].
    let factors = triangles(log_diagonal, below);
    let shifted = zip_with(|x, mean| x - mean, replicate((All, k, All), x), replicate((n, All, All), means));
    let products = zip_with(
        |factor, shifted| factor * shifted,
        replicate((n, All, All, All), factors),
        replicate((All, All, d, All), shifted),
    );
    let scaled = sum(products);

    // The logarithm of each Gaussian's share of the density at each point: [n, k].
    let log_weight = zip_with(|alpha, log_det| alpha + log_det, alphas, log_det);
    let log_share = zip_with(
        |weight, square| weight - lit::<T>(0.5) * square,
        replicate((n, All), log_weight),
        sum_of_squares(scaled),
    );
    let likelihood = sum(log_sum_exp(log_share));

    let squares = zip_with(
        |diagonal, below| diagonal + below,
        sum_of_squares(map(|q| q.exp(), log_diagonal)),
        sum_of_squares(below),
    );
    let prior = sum(zip_with(
        |square, log_det| lit::<T>(0.5) * the(gamma) * the(gamma) * square - the(m) * log_det,
        squares,
        log_det,
    ));

    let log_total = log_sum_exp(alphas);
    unit(the(likelihood) - n.cast::<T>() * the(log_total) + the(prior) + the(constant))
}

/// Lower triangular matrices `[k, d, d]` from the logarithms of their diagonals `[k, d]` and what is below the
/// diagonals, column by column: `[k, d(d-1)/2]`.
fn triangles<T: Floating>(log_diagonal: Acc<Matrix<T>>, below: Acc<Matrix<T>>) -> Acc<Array<Dim3, T>> {
    let (k, d) = log_diagonal.shape();
    generate((k, d, d), |(k, row, column)| {
        // The columns before this one hold d-1, d-2, … entries.
        let position = column * (d * 2 - column - 1) / 2 + row - column - 1;
        cond(
            row.eq(column),
            log_diagonal.at((k, row)).exp(),
            cond(row.gt(column), below.at((k, position)), lit::<T>(0.0)),
        )
    })
}

fn sum_of_squares<Sh: Shape, T: Floating>(xs: Acc<Array<Snoc<Sh>, T>>) -> Acc<Array<Sh, T>> {
    sum(map(|x| x * x, xs))
}

/// The logarithm of the sum of the exponentials of each innermost row, computed so that nothing overflows.
fn log_sum_exp<Sh: Shape, T: Floating>(xs: Acc<Array<Snoc<Sh>, T>>) -> Acc<Array<Sh, T>> {
    let largest = maximum(xs);
    let shifted = zip_with(|x, max| x - max, xs, replicate_inner(index_head(shape(xs)), largest));
    let total = sum(map(|x| x.exp(), shifted));
    zip_with(|total, max| total.ln() + max, total, largest)
}

fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| ((i as f64 + 1.0) * seed).sin()).collect()
}

#[test]
fn the_gradient_is_smaller_and_the_same() {
    let (n, d, k) = (200, 5, 4);
    let x: Matrix<f64> = Array::matrix(n, d, numbers(n * d, 0.7)).unwrap();
    let (gamma, m, constant): (Scalar<f64>, Scalar<f64>, Scalar<f64>) =
        (Array::scalar(1.0), Array::scalar(0.5), Array::scalar(2.0));
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
    assert!(
        after.arrays * 2 < before.arrays + 20 && after.array_lets * 2 < before.array_lets,
        "{before:?} -> {after:?}"
    );
    assert!(
        after.scalars * 3 < before.scalars * 2 && after.scalar_lets * 4 < before.scalar_lets,
        "{before:?} -> {after:?}"
    );
    assert_eq!(v.as_slice(), v2.as_slice());
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs()));
    assert!(close(g.0.as_slice(), g2.0.as_slice()));
    assert!(close(g.1.as_slice(), g2.1.as_slice()));
    assert!(close(g.2.as_slice(), g2.2.as_slice()));
}
