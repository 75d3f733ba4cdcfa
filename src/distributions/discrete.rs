//! Distributions of counts, of decisions, and of one of several classes.

use super::parts::{inside, ln_of_part, log_gamma_density, log_gamma_power_of_log, log_poisson, minus_infinity};
use super::positive::log_beta_cdf;
use super::variates::{Parameter, Variate, with1, with2};
use crate::surface::{attributed, snoc};
use crate::types::{Floating, Num, Primitive, Shape, Snoc};
use crate::{Acc, Array, Exp, IntoShape, cond, generate, lit, log_softmax, shape};
use std::panic::Location;

/// A count as a floating-point number.
fn number<N: Primitive, T: Floating>(n: Exp<N>) -> Exp<T> {
    n.cast()
}

/// The logarithm of the probability of a decision `y`, a `bool` or a number that is 0 or 1, if that of `true` has the logarithmic odds `alpha`.
///
/// ```
/// use accel::distributions::bernoulli_logit_lpmf;
/// use accel::prelude::*;
///
/// // Logistic regression.
/// let loss = afun(|w: Acc<Vector<f64>>, x: Acc<Matrix<f64>>, y: Acc<Vector<bool>>| -sum(bernoulli_logit_lpmf(y, matvec(x, w))));
/// let (w, x) = (Array::vector(vec![0.0]), Array::matrix(2, 1, vec![1.0, -1.0])?);
/// let (by_w, _, _) = run(grad(&loss), (&w, &x, &Array::vector(vec![true, false])))?;
/// assert_eq!(by_w.to_vec(), [-1.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn bernoulli_logit_lpmf<T: Floating, Y: Variate>(y: Y, alpha: impl Parameter<Y, T>) -> Y::With<T> {
    let density = |y: Exp<Y::Element>, alpha: Exp<T>| cond(y.cast::<bool>(), alpha, -alpha).log_sigmoid();
    attributed(("bernoulli_logit_lpmf", Location::caller()), || with1(density, y, alpha))
}

/// The logarithm of the probability of a count `n` of the Poisson distribution with the mean `lambda`. -∞ for negative counts.
#[track_caller]
pub fn poisson_lpmf<T: Floating, N: Variate<Element: Num>>(n: N, lambda: impl Parameter<N, T>) -> N::With<T> {
    let density = |n: Exp<N::Element>, lambda: Exp<T>| counted(number(n), |n| log_poisson(n, lambda));
    attributed(("poisson_lpmf", Location::caller()), || with1(density, n, lambda))
}

/// A density of a count that is not negative.
fn counted<T: Floating>(n: Exp<T>, density: impl FnOnce(Exp<T>) -> Exp<T>) -> Exp<T> {
    inside(n.ge(lit::<T>(0.0)), n, density(n.max(lit::<T>(0.0))))
}

/// The logarithm of the probability of at most `n` events of the Poisson distribution with the mean `lambda`.
#[track_caller]
pub fn poisson_lcdf<T: Floating, N: Variate<Element: Num>>(n: N, lambda: impl Parameter<N, T>) -> N::With<T> {
    let log = |n: Exp<N::Element>, lambda: Exp<T>| {
        let log = |n: Exp<T>| {
            let a = n + lit::<T>(1.0);
            ln_of_part(a.gamma_inc_upper(lambda), a.gamma_inc(lambda))
        };
        counted(number(n), log)
    };
    attributed(("poisson_lcdf", Location::caller()), || with1(log, n, lambda))
}

/// The logarithm of the probability of more than `n` events of the Poisson distribution with the mean `lambda`.
#[track_caller]
pub fn poisson_lccdf<T: Floating, N: Variate<Element: Num>>(n: N, lambda: impl Parameter<N, T>) -> N::With<T> {
    let log = |n: Exp<N::Element>, lambda: Exp<T>| {
        let n = number::<_, T>(n);
        let a = n.max(lit::<T>(0.0)) + lit::<T>(1.0);
        cond(n.lt(lit::<T>(0.0)), lit::<T>(0.0), ln_of_part(a.gamma_inc(lambda), a.gamma_inc_upper(lambda)))
    };
    attributed(("poisson_lccdf", Location::caller()), || with1(log, n, lambda))
}

/// The logarithm of the probability of a count `n` of the Poisson distribution whose mean has the logarithm `alpha`. -∞ for negative counts.
///
/// ```
/// use accel::distributions::poisson_log_lpmf;
/// use accel::prelude::*;
///
/// let likelihood = afun(|alpha: Acc<Scalar<f64>>, n: Acc<Vector<i64>>| sum(poisson_log_lpmf(n, alpha)));
/// let n = Array::vector(vec![3, 5]);
/// let (by_alpha, _) = run(grad(&likelihood), (&Array::scalar(4f64.ln()), &n))?;
/// assert!(by_alpha.item().abs() < 1e-14);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn poisson_log_lpmf<T: Floating, N: Variate<Element: Num>>(n: N, alpha: impl Parameter<N, T>) -> N::With<T> {
    let density = |n: Exp<N::Element>, alpha: Exp<T>| {
        counted(number(n), |n| log_gamma_power_of_log(alpha, n + lit::<T>(1.0)) - alpha)
    };
    attributed(("poisson_log_lpmf", Location::caller()), || with1(density, n, alpha))
}

/// The logarithm of the probability of `n` successes of `trials` trials, each of which has the probability `theta`. -∞ if `n` is negative or more than `trials`.
#[track_caller]
pub fn binomial_lpmf<T: Floating, N: Variate<Element: Num>>(
    n: N,
    trials: impl Parameter<N, N::Element>,
    theta: impl Parameter<N, T>,
) -> N::With<T> {
    let density = |n: Exp<T>, trials: Exp<T>, theta: Exp<T>| {
        let failures = trials - n;
        // Two Poisson counts with the sum `trials`.
        let density = |n: Exp<T>, failures: Exp<T>| {
            log_poisson(n, trials * theta) + log_poisson(failures, trials * (lit::<T>(1.0) - theta))
                - log_poisson(trials, trials)
        };
        let zero = lit::<T>(0.0);
        inside(n.ge(zero).and(failures.ge(zero)), n, density(n.max(zero), failures.max(zero)))
    };
    attributed(("binomial_lpmf", Location::caller()), || of_trials(density, n, trials, theta))
}

/// The logarithm of the probability of at most `n` successes of `trials` trials, each of which has the probability `theta`.
#[track_caller]
pub fn binomial_lcdf<T: Floating, N: Variate<Element: Num>>(
    n: N,
    trials: impl Parameter<N, N::Element>,
    theta: impl Parameter<N, T>,
) -> N::With<T> {
    let log = |n: Exp<T>, trials: Exp<T>, theta: Exp<T>| {
        let (is_some, is_all) = (n.ge(lit::<T>(0.0)), n.ge(trials));
        let (successes, failures) = ((n + lit::<T>(1.0)).max(lit::<T>(1.0)), (trials - n).max(lit::<T>(1.0)));
        let log = log_beta_cdf(lit::<T>(1.0) - theta, theta, failures, successes);
        cond(is_all, lit::<T>(0.0), cond(is_some, log, minus_infinity()))
    };
    attributed(("binomial_lcdf", Location::caller()), || of_trials(log, n, trials, theta))
}

/// The logarithm of the probability of more than `n` successes of `trials` trials, each of which has the probability `theta`.
#[track_caller]
pub fn binomial_lccdf<T: Floating, N: Variate<Element: Num>>(
    n: N,
    trials: impl Parameter<N, N::Element>,
    theta: impl Parameter<N, T>,
) -> N::With<T> {
    let log = |n: Exp<T>, trials: Exp<T>, theta: Exp<T>| {
        let (is_some, is_all) = (n.ge(lit::<T>(0.0)), n.ge(trials));
        let (successes, failures) = ((n + lit::<T>(1.0)).max(lit::<T>(1.0)), (trials - n).max(lit::<T>(1.0)));
        let log = log_beta_cdf(theta, lit::<T>(1.0) - theta, successes, failures);
        cond(is_all, minus_infinity(), cond(is_some, log, lit::<T>(0.0)))
    };
    attributed(("binomial_lccdf", Location::caller()), || of_trials(log, n, trials, theta))
}

/// A function of a count, a number of trials and a probability.
#[track_caller]
fn of_trials<T: Floating, N: Variate<Element: Num>>(
    f: impl FnOnce(Exp<T>, Exp<T>, Exp<T>) -> Exp<T>,
    n: N,
    trials: impl Parameter<N, N::Element>,
    theta: impl Parameter<N, T>,
) -> N::With<T> {
    type Two<N> = (Exp<N>, Exp<N>);
    let both = trials.beside(|n: Exp<N::Element>, trials| (n, trials), n.elements());
    theta.beside(|(n, trials): Two<N::Element>, theta| f(number(n), number(trials), theta), both)
}

/// The logarithm of the probability of a count `n` of the negative binomial distribution with the mean `mu` and the precision `phi`; its variance is
/// `mu + mu² / phi`. -∞ for negative counts.
#[track_caller]
pub fn neg_binomial_2_lpmf<T: Floating, N: Variate<Element: Num>>(
    n: N,
    mu: impl Parameter<N, T>,
    phi: impl Parameter<N, T>,
) -> N::With<T> {
    let density = |n: Exp<N::Element>, [mu, phi]: [Exp<T>; 2]| {
        let (p, q) = (mu / (mu + phi), phi / (mu + phi));
        let density = |n: Exp<T>| {
            let all = n + phi;
            log_poisson(n, all * p) + log_gamma_density(q, phi, all) + q.ln() - log_gamma_density(lit(1.0), all, all)
        };
        counted(number(n), density)
    };
    attributed(("neg_binomial_2_lpmf", Location::caller()), || with2(density, n, mu, phi))
}

/// The logarithm of the probability of at most `n` events of the negative binomial distribution with the mean `mu` and the precision `phi`.
#[track_caller]
pub fn neg_binomial_2_lcdf<T: Floating, N: Variate<Element: Num>>(
    n: N,
    mu: impl Parameter<N, T>,
    phi: impl Parameter<N, T>,
) -> N::With<T> {
    let log = |n: Exp<N::Element>, [mu, phi]: [Exp<T>; 2]| {
        let (p, q) = (mu / (mu + phi), phi / (mu + phi));
        counted(number(n), |n| log_beta_cdf(q, p, phi, n + lit::<T>(1.0)))
    };
    attributed(("neg_binomial_2_lcdf", Location::caller()), || with2(log, n, mu, phi))
}

/// The logarithm of the probability of more than `n` events of the negative binomial distribution with the mean `mu` and the precision `phi`.
#[track_caller]
pub fn neg_binomial_2_lccdf<T: Floating, N: Variate<Element: Num>>(
    n: N,
    mu: impl Parameter<N, T>,
    phi: impl Parameter<N, T>,
) -> N::With<T> {
    let log = |n: Exp<N::Element>, [mu, phi]: [Exp<T>; 2]| {
        let (p, q) = (mu / (mu + phi), phi / (mu + phi));
        let n = number::<_, T>(n);
        let log = log_beta_cdf(p, q, n.max(lit::<T>(0.0)) + lit::<T>(1.0), phi);
        cond(n.lt(lit::<T>(0.0)), lit::<T>(0.0), log)
    };
    attributed(("neg_binomial_2_lccdf", Location::caller()), || with2(log, n, mu, phi))
}

/// The logarithm of the probability of each class in `k`, where the innermost rows of `beta` are the logarithms of weights: `log_softmax(beta)` at `k`. Classes
/// are counted from 0 (in Stan from 1); another one is an error when the program runs.
///
/// ```
/// use accel::distributions::categorical_logit_lpmf;
/// use accel::prelude::*;
///
/// let loss = afun(|beta: Acc<Matrix<f64>>, k: Acc<Vector<i64>>| -sum(categorical_logit_lpmf(k, beta)));
/// let (by_beta, _) = run(grad(&loss), (&Array::matrix(1, 2, vec![0.0, 0.0])?, &Array::vector(vec![1])))?;
/// assert_eq!(by_beta.to_vec(), [0.5, -0.5]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn categorical_logit_lpmf<Sh: Shape, T: Floating>(
    k: Acc<Array<Sh, i64>>,
    beta: Acc<Array<Snoc<Sh>, T>>,
) -> Acc<Array<Sh, T>> {
    attributed(("categorical_logit_lpmf", Location::caller()), || {
        let logs = log_softmax(beta);
        generate(shape(k), |ix| {
            let ix: Exp<Sh> = ix.into_shape();
            logs.at(snoc(ix, k.at(ix)))
        })
    })
}
