//! The posterior density of a mixture of Gaussians, given points, and its gradient by the parameters of the mixture.

use crate::conversions::{matrix_of, number, rows, vector};
use crate::module::{Failure, Module};
use accel::backend::Backend;
use accel::prelude::*;
use accel::surface::index_head;
use serde::{Deserialize, Serialize};

/// k Gaussians in d dimensions. The inverse covariance of each is QᵀQ, with a lower triangular matrix Q.
#[derive(Clone, Debug, Arrays)]
pub struct Mixture {
    /// Logarithms of the weights, up to a constant: `[k]`.
    pub alpha: Vector<f64>,
    /// The means: `[k, d]`.
    pub mu: Matrix<f64>,
    /// Logarithms of the diagonals of the Q: `[k, d]`.
    pub q: Matrix<f64>,
    /// The entries below the diagonals, column by column: `[k, d(d-1)/2]`.
    pub l: Matrix<f64>,
}

/// The data to which the mixture is fitted.
#[derive(Clone, Debug, Arrays)]
pub struct Data {
    /// The points: `[n, d]`.
    pub x: Matrix<f64>,
    /// Scale of the prior, a Wishart distribution of the inverse covariances.
    pub gamma: Scalar<f64>,
    /// Degrees of freedom of the prior, besides d + 1.
    pub m: Scalar<f64>,
    /// The part of the objective that does not depend on the mixture.
    pub constant: Scalar<f64>,
}

/// The logarithm of the posterior density.
pub fn objective(mixture: Acc<Mixture>, data: Acc<Data>) -> Acc<Scalar<f64>> {
    let MixtureAcc { alpha, mu, q, l } = mixture.unlift();
    let DataAcc { x, gamma, m, constant } = data.unlift();
    let ((n, d), k) = (x.shape(), alpha.shape());
    let log_det = sum(q);

    // Each point's distance from each mean, multiplied by the Q of that Gaussian: [n, k, d].
    let centered = zip_with(|x, mu| x - mu, replicate((All, k, All), x), replicate((n, All, All), mu));
    let products = zip_with(
        |factor, distance| factor * distance,
        replicate((n, All, All, All), triangles(q, l)),
        replicate((All, All, d, All), centered),
    );
    let distances = sum_of_squares(sum(products));

    // The logarithm of each Gaussian's share of the density at each point: [n, k].
    let log_weight = zip_with(|alpha, log_det| alpha + log_det, alpha, log_det);
    let log_share = zip_with(|weight, square| weight - 0.5 * square, replicate((n, All), log_weight), distances);
    let likelihood = sum(log_sum_exp(log_share));

    let squares = zip_with(|q, l| q + l, sum_of_squares(map(|q| q.exp(), q)), sum_of_squares(l));
    let prior =
        sum(zip_with(|square, log_det| 0.5 * the(gamma) * the(gamma) * square - the(m) * log_det, squares, log_det));

    let log_total = log_sum_exp(alpha);
    unit(the(likelihood) - n.cast::<f64>() * the(log_total) - the(prior) + the(constant))
}

/// The gradient of the objective by the parameters of the mixture.
pub fn jacobian() -> Afun<(Mixture, Data), Mixture> {
    grad(afun(objective).by(|(mixture, _)| mixture))
}

/// The matrices Q, `[k, d, d]`, from the logarithms of their diagonals and the entries below the diagonals.
fn triangles(q: Acc<Matrix<f64>>, l: Acc<Matrix<f64>>) -> Acc<Array<Dim3, f64>> {
    let (k, d) = q.shape();
    generate((k, d, d), |(k, row, column)| {
        // The earlier columns have d-1, d-2, … entries.
        let position = column * (d * 2 - column - 1) / 2 + row - column - 1;
        cond(row.eq(column), q.at((k, row)).exp(), cond(row.gt(column), l.at((k, position)), lit(0.0)))
    })
}

fn sum_of_squares<Sh: Shape>(xs: Acc<Array<Snoc<Sh>, f64>>) -> Acc<Array<Sh, f64>> {
    sum(map(|x| x * x, xs))
}

/// The logarithm of the sum of the exponentials of each innermost row, computed without overflow.
fn log_sum_exp<Sh: Shape>(xs: Acc<Array<Snoc<Sh>, f64>>) -> Acc<Array<Sh, f64>> {
    let largest = maximum(xs);
    let shifted = zip_with(|x, max| x - max, xs, replicate_inner(index_head(shape(xs)), largest));
    let total = sum(map(|x| x.exp(), shifted));
    zip_with(|total, max| total.ln() + max, total, largest)
}

/// The objective and its gradient.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    Module::new(backend).function("objective", afun(objective), arguments, number)?.function(
        "jacobian",
        jacobian(),
        arguments,
        output,
    )
}

/// The input that the eval sends.
#[derive(Deserialize)]
struct Input {
    d: usize,
    k: usize,
    n: usize,
    x: Vec<Vec<f64>>,
    m: u32,
    gamma: f64,
    alpha: Vec<f64>,
    mu: Vec<Vec<f64>>,
    q: Vec<Vec<f64>>,
    l: Vec<Vec<f64>>,
}

/// The output of the gradient that the eval expects.
#[derive(Serialize)]
struct Output {
    alpha: Vec<f64>,
    mu: Vec<Vec<f64>>,
    q: Vec<Vec<f64>>,
    l: Vec<Vec<f64>>,
}

fn arguments(input: Input) -> Result<(Mixture, Data), Failure> {
    let Input { d, k, n, x, m, gamma, alpha, mu, q, l } = input;
    if alpha.len() != k {
        return Err(Failure::Input(format!("`alpha` has {} numbers and `k` is {k}", alpha.len())));
    }
    let mixture = Mixture {
        alpha: Array::vector(alpha),
        mu: matrix_of("mu", [k, d], mu)?,
        q: matrix_of("q", [k, d], q)?,
        l: matrix_of("l", [k, d * d.saturating_sub(1) / 2], l)?,
    };
    let data = Data {
        x: matrix_of("x", [n, d], x)?,
        gamma: Array::scalar(gamma),
        m: Array::scalar(f64::from(m)),
        constant: Array::scalar(constant(n, d, k, gamma, m)),
    };
    Ok((mixture, data))
}

fn output(gradient: Mixture) -> Output {
    let Mixture { alpha, mu, q, l } = gradient;
    Output { alpha: vector(alpha), mu: rows(mu), q: rows(q), l: rows(l) }
}

/// The part of the objective that does not depend on the mixture: the constants of the normal densities and of the
/// prior.
fn constant(n: usize, d: usize, k: usize, gamma: f64, m: u32) -> f64 {
    let (n, k, dim) = (n as f64, k as f64, d as f64);
    let degrees = dim + f64::from(m) + 1.0;
    let prior = degrees * dim * (gamma.ln() - 0.5 * std::f64::consts::LN_2) - log_multigamma(0.5 * degrees, d);
    -0.5 * n * dim * std::f64::consts::TAU.ln() + k * prior
}

/// The logarithm of the multivariate gamma function of dimension `d`.
fn log_multigamma(a: f64, d: usize) -> f64 {
    let dim = d as f64;
    let gammas: f64 = (0..d).map(|i| libm::lgamma(a - 0.5 * i as f64)).sum();
    0.25 * dim * (dim - 1.0) * std::f64::consts::PI.ln() + gammas
}
