//! Programs to be shipped. Only the process that compiles them needs this module.

use super::types::*;
use accel::prelude::*;

type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;
type S = Acc<Scalar<f64>>;

/// The value and the gradient of the log-likelihood of a mixture of normal distributions.
pub fn mixture() -> Afun<Mixture, MixtureGradient> {
    let likelihood = afun(|weights: V, means: M, data: M| {
        let ((n, d), k) = (data.shape(), weights.len());
        let squares = generate((n, k, d), |(i, j, l)| (data.at((i, l)) - means.at((j, l))).powi(2));
        let distances = sum(squares);
        sum(log_sum_exp(generate((n, k), |(i, j)| weights.at(j) - distances.at((i, j)) * 0.5)))
    });
    value_and_grad(likelihood.by(|(weights, means, _)| (weights, means)))
}

/// The gradient of a filter: a loop over time, whose states the derivative needs again.
pub fn filter() -> Afun<Filter, FilterGradient> {
    let likelihood = afun(|transition: M, noise: S, measured: M| {
        let (times, d) = measured.shape();
        let step = |t: Exp<i64>, (state, total): (V, S)| {
            let expected = matvec(transition, state);
            let error = generate(d, |i| measured.at((t, i)) - expected.at(i));
            let gain = the(map(|noise| noise.exp() / (noise.exp() + 1.0), noise));
            (zip_with(|e, x| (x + e * gain).tanh(), error, expected), total - sum(error * error))
        };
        let (_, total) = aiterate_indexed(times, step, (fill(d, 0.0), unit(0.0)));
        total
    });
    grad(likelihood.by(|(transition, noise, _)| (transition, noise)))
}

/// The positive numbers in order, and the sums of the numbers of each of ten classes.
pub fn sorted() -> Afun<(Vector<f64>, Vector<i64>), Sorted> {
    afun(|numbers: V, classes: Acc<Vector<i64>>| {
        let positive = filter_positive(numbers);
        (sort(positive), permute(|a, b| a + b, fill(10, 0.0), |i| (classes.at(i).ge(0), classes.at(i)), numbers))
    })
}

fn filter_positive(numbers: V) -> V {
    accel::prelude::filter(|x| x.gt(0.0), numbers)
}
