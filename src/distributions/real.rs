//! Distributions on all numbers: a location, a scale, and the form.

use super::parts::{LN_SQRT_2_PI, ln_1p_square, ln_gamma_half_step, ln_of_part};
use super::variates::{Parameter, Variate, with2, with3};
use crate::surface::attributed;
use crate::types::Floating;
use crate::{Exp, cond, lit};
use std::f64::consts::{FRAC_1_PI, LN_2, PI};
use std::panic::Location;

/// The distance from the location in units of the scale.
fn distance<T: Floating>(x: Exp<T>, [mu, sigma]: [Exp<T>; 2]) -> Exp<T> {
    (x - mu) / sigma
}

/// A density of the form f((x - mu) / sigma) / sigma, by the logarithm of f.
fn scaled<T: Floating>(log_f: impl FnOnce(Exp<T>) -> Exp<T>, x: Exp<T>, p: [Exp<T>; 2]) -> Exp<T> {
    log_f(distance(x, p)) - p[1].ln()
}

/// The log density of the normal distribution with the mean `mu` and the deviation `sigma`.
///
/// ```
/// use accel::distributions::normal_lpdf;
/// use accel::prelude::*;
///
/// let likelihood = afun(|mu: Acc<Scalar<f64>>, y: Acc<Vector<f64>>| sum(normal_lpdf(y, mu, 2.0)));
/// let y = Array::vector(vec![1.0, 3.0]);
/// let (by_mu, _) = run(grad(&likelihood), (&Array::scalar(1.0), &y))?;
/// assert_eq!(by_mu.item(), 0.5);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn normal_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("normal_lpdf", Location::caller()), || {
        let log_f = |z: Exp<T>| -(z * z * lit::<T>(0.5)) - lit::<T>(LN_SQRT_2_PI);
        with2(|x, p| scaled(log_f, x, p), x, mu, sigma)
    })
}

/// The logarithm of the normal distribution function, also far to the left.
#[track_caller]
pub fn normal_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("normal_lcdf", Location::caller()), || with2(|x, p| distance(x, p).log_normal_cdf(), x, mu, sigma))
}

/// The logarithm of 1 minus the normal distribution function, also far to the right.
#[track_caller]
pub fn normal_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("normal_lccdf", Location::caller()), || with2(|x, p| (-distance(x, p)).log_normal_cdf(), x, mu, sigma))
}

/// The log density of Student's t distribution with `nu` degrees of freedom, the location `mu` and the scale `sigma`.
///
/// ```
/// use accel::distributions::student_t_lpdf;
/// use accel::prelude::*;
///
/// // With one degree of freedom it is Cauchy's.
/// let density = run(&afun(|x: Acc<Vector<f64>>| student_t_lpdf(x, 1.0, 0.0, 1.0)), &Array::vector(vec![1.0]))?;
/// assert!((density.as_slice()[0] + (2.0 * std::f64::consts::PI).ln()).abs() < 1e-14);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn student_t_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    nu: impl Parameter<X, T>,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    let density = |x: Exp<T>, [nu, mu, sigma]: [Exp<T>; 3]| {
        let half = lit::<T>(0.5);
        let log_f = |z: Exp<T>| {
            ln_gamma_half_step(nu * half)
                - (nu * lit::<T>(PI)).ln() * half
                - (nu + lit::<T>(1.0)) * half * ln_1p_square(z / nu.sqrt())
        };
        scaled(log_f, x, [mu, sigma])
    };
    attributed(("student_t_lpdf", Location::caller()), || with3(density, x, nu, mu, sigma))
}

/// The log density of Cauchy's distribution with the location `mu` and the scale `sigma`.
#[track_caller]
pub fn cauchy_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("cauchy_lpdf", Location::caller()), || {
        let log_f = |z| -ln_1p_square(z) - lit::<T>(PI.ln());
        with2(|x, p| scaled(log_f, x, p), x, mu, sigma)
    })
}

/// ln P(Z < z) of Cauchy's distribution.
fn log_cauchy_cdf<T: Floating>(z: Exp<T>) -> Exp<T> {
    let [part, rest] = [-z, z].map(|z| lit::<T>(1.0).atan2(z) * lit::<T>(FRAC_1_PI));
    ln_of_part(part, rest)
}

/// The logarithm of the distribution function of Cauchy's distribution.
#[track_caller]
pub fn cauchy_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("cauchy_lcdf", Location::caller()), || with2(|x, p| log_cauchy_cdf(distance(x, p)), x, mu, sigma))
}

/// The logarithm of 1 minus the distribution function of Cauchy's distribution.
#[track_caller]
pub fn cauchy_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("cauchy_lccdf", Location::caller()), || with2(|x, p| log_cauchy_cdf(-distance(x, p)), x, mu, sigma))
}

/// The log density of Laplace's distribution with the location `mu` and the scale `sigma`, in Stan `double_exponential`. Its derivative at the
/// location is 0.
#[track_caller]
pub fn laplace_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("laplace_lpdf", Location::caller()), || {
        let log_f = |z: Exp<T>| -z.abs() - lit::<T>(LN_2);
        with2(|x, p| scaled(log_f, x, p), x, mu, sigma)
    })
}

/// ln P(Z < z) of Laplace's distribution.
fn log_laplace_cdf<T: Floating>(z: Exp<T>) -> Exp<T> {
    cond(z.lt(lit::<T>(0.0)), z - lit::<T>(LN_2), ((-z).exp() * lit::<T>(-0.5)).ln_1p())
}

/// The logarithm of the distribution function of Laplace's distribution.
#[track_caller]
pub fn laplace_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("laplace_lcdf", Location::caller()), || with2(|x, p| log_laplace_cdf(distance(x, p)), x, mu, sigma))
}

/// The logarithm of 1 minus the distribution function of Laplace's distribution.
#[track_caller]
pub fn laplace_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("laplace_lccdf", Location::caller()), || with2(|x, p| log_laplace_cdf(-distance(x, p)), x, mu, sigma))
}

/// The log density of the logistic distribution with the location `mu` and the scale `sigma`.
#[track_caller]
pub fn logistic_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("logistic_lpdf", Location::caller()), || {
        let log_f = |z: Exp<T>| -z.softplus() - (-z).softplus();
        with2(|x, p| scaled(log_f, x, p), x, mu, sigma)
    })
}

/// The logarithm of the distribution function of the logistic distribution.
#[track_caller]
pub fn logistic_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("logistic_lcdf", Location::caller()), || with2(|x, p| distance(x, p).log_sigmoid(), x, mu, sigma))
}

/// The logarithm of 1 minus the distribution function of the logistic distribution.
#[track_caller]
pub fn logistic_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("logistic_lccdf", Location::caller()), || with2(|x, p| (-distance(x, p)).log_sigmoid(), x, mu, sigma))
}

/// The log density of the distribution of von Mises on a circle, with the mean direction `mu` and the concentration `kappa`; angles are in radians, and are not
/// reduced to one turn.
#[track_caller]
pub fn von_mises_lpdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    kappa: impl Parameter<X, T>,
) -> X::With<T> {
    let density = |x: Exp<T>, [mu, kappa]: [Exp<T>; 2]| {
        let half_sine = ((x - mu) * lit::<T>(0.5)).sin();
        // ln I0(kappa) - kappa; the scaled function has a kink at 0, and the logarithm is large for large kappa.
        let rest = cond(kappa.lt(lit::<T>(1.0)), kappa.ln_i0() - kappa, kappa.i0e().ln());
        kappa * lit::<T>(-2.0) * half_sine * half_sine - lit::<T>((2.0 * PI).ln()) - rest
    };
    attributed(("von_mises_lpdf", Location::caller()), || with2(density, x, mu, kappa))
}
