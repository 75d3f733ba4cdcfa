//! The objective: the logarithm of the posterior density of a Gaussian mixture's parameters, with a Wishart prior.

use accel::prelude::*;
use accel::surface::index_head;

/// The objective for a mixture of k Gaussians and n points in d dimensions.
///
/// - `alphas [k]`: logarithms of the weights, up to a constant
/// - `means [k, d]`
/// - `icf [k, d + d(d-1)/2]`: for each Gaussian, a lower triangular factor of its inverse covariance: the logarithms of
///   its diagonal, then the entries below the diagonal, column by column
/// - `x [n, d]`: the points
/// - `gamma`, `m`: scale and degrees of freedom of the prior
/// - `constant`: the part that does not depend on the parameters ([`constant_term`])
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

/// Lower triangular matrices `[k, d, d]`, from the logarithms of their diagonals `[k, d]` and the entries below the
/// diagonals, column by column: `[k, d(d-1)/2]`.
fn triangles<T: Floating>(log_diagonal: Acc<Matrix<T>>, below: Acc<Matrix<T>>) -> Acc<Array<Dim3, T>> {
    let (k, d) = log_diagonal.shape();
    generate((k, d, d), |(k, row, column)| {
        // The earlier columns have d-1, d-2, … entries.
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

/// The logarithm of the sum of the exponentials of each innermost row, computed without overflow.
fn log_sum_exp<Sh: Shape, T: Floating>(xs: Acc<Array<Snoc<Sh>, T>>) -> Acc<Array<Sh, T>> {
    let largest = maximum(xs);
    let shifted = zip_with(|x, max| x - max, xs, replicate_inner(index_head(shape(xs)), largest));
    let total = sum(map(|x| x.exp(), shifted));
    zip_with(|total, max| total.ln() + max, total, largest)
}

/// The part of the objective that does not depend on the parameters: the constants of the normal densities and of the
/// prior.
pub fn constant_term(n: usize, d: usize, k: usize, gamma: f64, m: u32) -> f64 {
    let (n, k, dim) = (n as f64, k as f64, d as f64);
    let degrees = dim + f64::from(m) + 1.0;
    let prior = degrees * dim * (gamma.ln() - 0.5 * std::f64::consts::LN_2) - log_multigamma(0.5 * degrees, d);
    -0.5 * n * dim * std::f64::consts::TAU.ln() - k * prior
}

/// The logarithm of the multivariate gamma function of dimension `d`.
fn log_multigamma(a: f64, d: usize) -> f64 {
    let dim = d as f64;
    let gammas: f64 = (0..d).map(|i| libm::lgamma(a - 0.5 * i as f64)).sum();
    0.25 * dim * (dim - 1.0) * std::f64::consts::PI.ln() + gammas
}
