//! Distributions of vectors and of matrices.

use super::parts::{LN_SQRT_2_PI, inside, log_gamma_density};
use crate::linalg::{Triangle, cholesky, diagonal, solve_triangular};
use crate::repr::Agreement;
use crate::surface::{Operand, agree, attributed, index_head, index_tail, size_of};
use crate::types::{Floating, Shape, Snoc};
use crate::{Acc, Array, Exp, Matrix, Scalar, ToExp, imap, lit, map, reshape, shape, sum, the, transpose, zip_with};
use std::f64::consts::PI;
use std::panic::Location;

type Vectors<Sh, T> = Acc<Array<Snoc<Sh>, T>>;
type Numbers<Sh, T> = Acc<Array<Sh, T>>;

/// The log density of the Dirichlet distribution at each innermost row of `theta`, numbers with the sum 1; `alpha` is an array of the same shape, or `row(v)` with
/// a vector for all rows. -∞ for negative numbers; the sum is not checked.
///
/// ```
/// use accel::distributions::dirichlet_lpdf;
/// use accel::prelude::*;
///
/// let density = afun(|theta: Acc<Matrix<f64>>, alpha: Acc<Vector<f64>>| dirichlet_lpdf(theta, row(alpha)));
/// let theta = Array::matrix(2, 2, vec![0.5, 0.5, 0.1, 0.9])?;
/// let densities = run(&density, (&theta, &Array::vector(vec![1.0, 1.0])))?;
/// assert!(densities.as_slice().iter().all(|x| x.abs() < 1e-15));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn dirichlet_lpdf<Sh: Shape, T: Floating>(
    theta: Vectors<Sh, T>,
    alpha: impl Operand<Snoc<Sh>, T>,
) -> Numbers<Sh, T> {
    attributed(("dirichlet_lpdf", Location::caller()), || {
        let alpha = alpha.beside(|_: Exp<T>, a: Exp<T>| a, theta);
        let total = sum(alpha);
        // Gamma variables with the sum 1.
        let part = |(theta, alpha): (Exp<T>, Exp<T>), total: Exp<T>| {
            inside(theta.ge(lit::<T>(0.0)), theta, log_gamma_density(theta, alpha, total))
        };
        let both = zip_with(|theta: Exp<T>, alpha: Exp<T>| (theta, alpha), theta, alpha);
        let parts = crate::column(total).beside(part, both);
        sum(parts) - map(|total: Exp<T>| log_gamma_density(lit(1.0), total, total), total)
    })
}

/// The log density of the multivariate normal distribution whose covariance matrix has the Cholesky factor `l`, at each innermost row of `y`. `mu` is an array of the
/// same shape, or `row(v)` with one mean for all. The factor has as many rows and columns as a row has numbers, otherwise the run is an error.
///
/// ```
/// use accel::distributions::multi_normal_cholesky_lpdf;
/// use accel::prelude::*;
///
/// let density = afun(|y: Acc<Matrix<f64>>, l: Acc<Matrix<f64>>| multi_normal_cholesky_lpdf(y, 0.0, l));
/// let (y, l) = (Array::matrix(2, 2, vec![0.0, 0.0, 1.0, 1.0])?, Array::matrix(2, 2, vec![1.0, 0.0, 0.0, 1.0])?);
/// let densities = run(&density, (&y, &l))?;
/// assert!((densities.as_slice()[0] - densities.as_slice()[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn multi_normal_cholesky_lpdf<Sh: Shape, T: Floating>(
    y: Vectors<Sh, T>,
    mu: impl Operand<Snoc<Sh>, T>,
    l: Acc<Matrix<T>>,
) -> Numbers<Sh, T> {
    attributed(("multi_normal_cholesky_lpdf", Location::caller()), || density(y, mu, l))
}

/// The log density of the multivariate normal distribution with the covariance matrix `sigma`, at each innermost row of `y`. `mu` is an array of the same shape, or
/// `row(v)` with one mean for all. Only the lower triangle of `sigma` is read. It has as many rows and columns as a row has numbers, otherwise
/// the run is an error; where it is not positive definite, the result is NaN.
#[track_caller]
pub fn multi_normal_lpdf<Sh: Shape, T: Floating>(
    y: Vectors<Sh, T>,
    mu: impl Operand<Snoc<Sh>, T>,
    sigma: Acc<Matrix<T>>,
) -> Numbers<Sh, T> {
    attributed(("multi_normal_lpdf", Location::caller()), || density(y, mu, cholesky(sigma)))
}

fn density<Sh: Shape, T: Floating>(
    y: Vectors<Sh, T>,
    mu: impl Operand<Snoc<Sh>, T>,
    l: Acc<Matrix<T>>,
) -> Numbers<Sh, T> {
    let distances = mu.beside(|y: Exp<T>, mu: Exp<T>| y - mu, y);
    let (outer, n) = (index_tail(shape(y)), index_head(shape(y)));
    let columns = transpose(reshape((size_of(outer), n), distances));
    let z = transpose(solve_triangular(Triangle::Lower, l, columns));
    let squares = reshape(outer, sum(map(|z: Exp<T>| z * z, z)));
    let log_scale = sum(diagonal(l).ln());
    map(|s: Exp<T>| -(s * lit::<T>(0.5)) - the(log_scale) - n.cast::<T>() * lit::<T>(LN_SQRT_2_PI), squares)
}

/// The log density of the distribution of Lewandowski, Kurowicka and Joe (2009) of correlation matrices with the parameter `eta`, at the Cholesky factor `l` of the
/// matrix: 1 is the same density for all matrices, and larger numbers prefer small correlations. It is a density of factors, as that
/// of Stan's `lkj_corr_cholesky`. The factor is a square matrix, otherwise the run is an error.
#[track_caller]
pub fn lkj_corr_cholesky_lpdf<T: Floating>(l: Acc<Matrix<T>>, eta: impl ToExp<T>) -> Acc<Scalar<T>> {
    let (site, eta) = (("lkj_corr_cholesky_lpdf", Location::caller()), eta.to_exp());
    attributed(site, || {
        let l = agree(site, Agreement::Square, l, l);
        let n = l.shape().0;
        let half = lit::<T>(0.5);
        // For each row k from 1 on: the power of the diagonal element, and the logarithm of π^(k/2) Γ(η + (n - 1 - k) / 2) / Γ(η + (n - 1) / 2).
        let part = |k: Exp<i64>, x: Exp<T>| {
            let (k, after) = (k.cast::<T>(), (n - 1 - k).cast::<T>());
            let constant = k * half * lit::<T>(PI.ln()) + (eta + after * half).lgamma()
                - (eta + (n - 1).cast::<T>() * half).lgamma();
            (after + eta + eta - lit::<T>(2.0)) * x.ln() - constant
        };
        let is_first = |k: Exp<i64>, x: Exp<T>| crate::cond::<T>(k.eq(0), lit::<T>(0.0), part(k, x));
        sum(imap(is_first, diagonal(l)))
    })
}
