//! Distributions on positive numbers, and on the interval from 0 to 1.

use super::parts::{LN_SQRT_2_PI, inside, ln_1m_exp, ln_of_part, log_gamma_density, log_gamma_power, minus_infinity};
use super::variates::{Parameter, Variate, with1, with2};
use crate::surface::attributed;
use crate::types::Floating;
use crate::{Exp, cond, lit};
use std::panic::Location;

/// The log density of the numbers whose logarithms have the normal distribution with the mean `mu` and the deviation `sigma`. -∞ for `x` ≤ 0.
#[track_caller]
pub fn lognormal_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    let density = |x: Exp<T>, [mu, sigma]: [Exp<T>; 2]| {
        let z = (x.ln() - mu) / sigma;
        inside(x.gt(lit::<T>(0.0)), x, -(z * z * lit::<T>(0.5)) - lit::<T>(LN_SQRT_2_PI) - sigma.ln() - x.ln())
    };
    attributed(("lognormal_lpdf", Location::caller()), || with2(density, x, mu, sigma))
}

/// The logarithm of the lognormal distribution function.
#[track_caller]
pub fn lognormal_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    let log =
        |x: Exp<T>, [mu, sigma]: [Exp<T>; 2]| inside(x.gt(lit::<T>(0.0)), x, ((x.ln() - mu) / sigma).log_normal_cdf());
    attributed(("lognormal_lcdf", Location::caller()), || with2(log, x, mu, sigma))
}

/// The logarithm of 1 minus the lognormal distribution function.
#[track_caller]
pub fn lognormal_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    let log = |x: Exp<T>, [mu, sigma]: [Exp<T>; 2]| above_zero(x, ((mu - x.ln()) / sigma).log_normal_cdf());
    attributed(("lognormal_lccdf", Location::caller()), || with2(log, x, mu, sigma))
}

/// The logarithm of the probability of more than `x`, for positive variables.
fn above_zero<T: Floating>(x: Exp<T>, log: Exp<T>) -> Exp<T> {
    cond(x.le(lit::<T>(0.0)), lit::<T>(0.0), log)
}

/// The log density of the exponential distribution with the rate `beta`. -∞ for `x` < 0.
///
/// ```
/// use accel::distributions::exponential_lpdf;
/// use accel::prelude::*;
///
/// let density = afun(|x: Acc<Vector<f64>>| exponential_lpdf(x, 2.0));
/// assert_eq!(run(&density, &Array::vector(vec![1.0, -1.0]))?.to_vec(), [2f64.ln() - 2.0, f64::NEG_INFINITY]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn exponential_lpdf<T: Floating, X: Variate<Element = T>>(x: X, beta: impl Parameter<X, T>) -> X::With<T> {
    let density = |x: Exp<T>, beta: Exp<T>| inside(x.ge(lit::<T>(0.0)), x, beta.ln() - beta * x);
    attributed(("exponential_lpdf", Location::caller()), || with1(density, x, beta))
}

/// The logarithm of the distribution function of the exponential distribution.
#[track_caller]
pub fn exponential_lcdf<T: Floating, X: Variate<Element = T>>(x: X, beta: impl Parameter<X, T>) -> X::With<T> {
    let log = |x: Exp<T>, beta: Exp<T>| inside(x.gt(lit::<T>(0.0)), x, ln_1m_exp(beta * x));
    attributed(("exponential_lcdf", Location::caller()), || with1(log, x, beta))
}

/// The logarithm of 1 minus the distribution function of the exponential distribution.
#[track_caller]
pub fn exponential_lccdf<T: Floating, X: Variate<Element = T>>(x: X, beta: impl Parameter<X, T>) -> X::With<T> {
    let log = |x: Exp<T>, beta: Exp<T>| above_zero(x, -(beta * x));
    attributed(("exponential_lccdf", Location::caller()), || with1(log, x, beta))
}

/// The log density of the gamma distribution with the shape `alpha` and the rate `beta` (not the scale). -∞ for `x` < 0.
///
/// ```
/// use accel::distributions::gamma_lpdf;
/// use accel::prelude::*;
///
/// // Also for a million, where the terms of the formula are 10⁷ times as large as the result.
/// let density = run(&afun(|x: Acc<Vector<f64>>| gamma_lpdf(x, 1e6, 1e6)), &Array::vector(vec![1.0]))?;
/// assert!((density.as_slice()[0] - 5.98881669).abs() < 1e-7);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn gamma_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    let density =
        |x: Exp<T>, [alpha, beta]: [Exp<T>; 2]| inside(x.ge(lit::<T>(0.0)), x, log_gamma_density(x, alpha, beta));
    attributed(("gamma_lpdf", Location::caller()), || with2(density, x, alpha, beta))
}

/// The logarithm of the distribution function of the gamma distribution.
#[track_caller]
pub fn gamma_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    let log = |x: Exp<T>, [alpha, beta]: [Exp<T>; 2]| {
        let y = beta * x;
        inside(x.gt(lit::<T>(0.0)), x, ln_of_part(alpha.gamma_inc(y), alpha.gamma_inc_upper(y)))
    };
    attributed(("gamma_lcdf", Location::caller()), || with2(log, x, alpha, beta))
}

/// The logarithm of 1 minus the distribution function of the gamma distribution.
#[track_caller]
pub fn gamma_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    let log = |x: Exp<T>, [alpha, beta]: [Exp<T>; 2]| {
        let y = beta * x;
        above_zero(x, ln_of_part(alpha.gamma_inc_upper(y), alpha.gamma_inc(y)))
    };
    attributed(("gamma_lccdf", Location::caller()), || with2(log, x, alpha, beta))
}

/// The log density of the reciprocals of gamma variables with the shape `alpha` and the rate `beta`. -∞ for `x` ≤ 0.
#[track_caller]
pub fn inv_gamma_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    let density = |x: Exp<T>, [alpha, beta]: [Exp<T>; 2]| {
        inside(x.gt(lit::<T>(0.0)), x, log_gamma_power(beta / x, alpha) - x.ln())
    };
    attributed(("inv_gamma_lpdf", Location::caller()), || with2(density, x, alpha, beta))
}

/// The logarithm of the distribution function of the inverse gamma distribution.
#[track_caller]
pub fn inv_gamma_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    let log = |x: Exp<T>, [alpha, beta]: [Exp<T>; 2]| {
        let y = beta / x;
        inside(x.gt(lit::<T>(0.0)), x, ln_of_part(alpha.gamma_inc_upper(y), alpha.gamma_inc(y)))
    };
    attributed(("inv_gamma_lcdf", Location::caller()), || with2(log, x, alpha, beta))
}

/// The logarithm of 1 minus the distribution function of the inverse gamma distribution.
#[track_caller]
pub fn inv_gamma_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    let log = |x: Exp<T>, [alpha, beta]: [Exp<T>; 2]| {
        let y = beta / x;
        above_zero(x, ln_of_part(alpha.gamma_inc(y), alpha.gamma_inc_upper(y)))
    };
    attributed(("inv_gamma_lccdf", Location::caller()), || with2(log, x, alpha, beta))
}

/// The log density of the beta distribution with the parameters `alpha` and `beta`. -∞ outside of 0 to 1.
///
/// ```
/// use accel::distributions::beta_lpdf;
/// use accel::prelude::*;
///
/// let density = run(&afun(|x: Acc<Vector<f64>>| beta_lpdf(x, 2.0, 1.0)), &Array::vector(vec![0.5, 0.0, 2.0]))?;
/// assert!(density.as_slice()[0].abs() < 1e-15);
/// assert_eq!(density.as_slice()[1..], [f64::NEG_INFINITY; 2]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn beta_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    let density = |x: Exp<T>, [alpha, beta]: [Exp<T>; 2]| {
        let one = lit::<T>(1.0);
        let all = alpha + beta;
        // Two gamma variables with the sum 1.
        let density =
            log_gamma_density(x, alpha, all) + log_gamma_density(one - x, beta, all) - log_gamma_density(one, all, all);
        inside(x.ge(lit::<T>(0.0)).and(x.le(one)), x, density)
    };
    attributed(("beta_lpdf", Location::caller()), || with2(density, x, alpha, beta))
}

/// The logarithm of the distribution function of the beta distribution.
#[track_caller]
pub fn beta_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("beta_lcdf", Location::caller()), || {
        with2(|x, [alpha, beta]| log_beta_cdf(x, lit::<T>(1.0) - x, alpha, beta), x, alpha, beta)
    })
}

/// The logarithm of 1 minus the distribution function of the beta distribution.
#[track_caller]
pub fn beta_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    alpha: impl Parameter<X, T>,
    beta: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("beta_lccdf", Location::caller()), || {
        with2(|x, [alpha, beta]| log_beta_cdf(lit::<T>(1.0) - x, x, beta, alpha), x, alpha, beta)
    })
}

/// ln I(x; a, b) with y = 1 - x, also outside of 0 to 1.
pub(super) fn log_beta_cdf<T: Floating>(x: Exp<T>, y: Exp<T>, a: Exp<T>, b: Exp<T>) -> Exp<T> {
    let log = ln_of_part(a.beta_inc(b, x), b.beta_inc(a, y));
    cond(x.le(lit::<T>(0.0)), minus_infinity(), cond(y.le(lit::<T>(0.0)), lit::<T>(0.0), log))
}
