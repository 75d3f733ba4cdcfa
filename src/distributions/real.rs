//! Distributions on all numbers: a location, a scale, and the form.

use super::parts::{LN_SQRT_2_PI, ln_1p_square, ln_gamma_half_step, ln_of_part, minus_infinity};
use super::variates::{Parameter, Variate, with2, with3};
use crate::surface::attributed;
use crate::types::Floating;
use crate::{Exp, cond, iterate_indexed, lit};
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

/// ln P(Z < z) of Student's t distribution with `nu` degrees of freedom.
///
/// With t = z / √ν, the part beyond |z| is half of 1 - I_y(½, ν / 2) and of I_w(ν / 2, ½), where y = t² / (1 + t²) and w = 1 - y. Near 0, where y has a root, it is
/// ½ minus the integral of the density, a hypergeometric series in -t². Far away, where w underflows, it is w^(ν / 2) / (ν B(ν / 2, ½)).
fn log_student_t_cdf<T: Floating>(z: Exp<T>, nu: Exp<T>) -> Exp<T> {
    let (z, nu) = (z.cast::<f64>(), nu.cast::<f64>());
    let (one, half, a) = (lit::<f64>(1.0), lit::<f64>(0.5), nu * 0.5);
    let t = z / nu.sqrt();
    let (size, square) = (t.abs(), t * t);
    let log_far = || ln_gamma_half_step(a) - nu * size.ln() - nu.ln() - 0.5 * PI.ln();
    let by_y = || half.beta_inc_upper(a, square / (one + square));
    let by_w = || {
        let inverse = one / square;
        a.beta_inc(half, inverse / (one + inverse))
    };
    let log_tail = cond(size.gt(1e60), log_far(), (half * cond(size.lt(1.0), by_y(), by_w())).ln());
    let log_from_tail = cond(z.lt(0.0), log_tail, (-log_tail.exp()).ln_1p());
    let near = || {
        let term = |sum: Exp<f64>, n: i32| {
            let n = f64::from(n);
            one - sum * square * ((n + 0.5) / ((n + 1.5) * (n + 1.0))) * (a + (n + 0.5))
        };
        let part = t * (ln_gamma_half_step(a) - 0.5 * PI.ln()).exp() * (0..16).rev().fold(one, term);
        ln_of_part(half + part, half - part)
    };
    cond(square.lt(0.1).and((z * z).lt(0.5)), near(), log_from_tail).cast()
}

/// The logarithm of the distribution function of Student's t distribution. A probability below 1e-308 is 0, and its logarithm -∞, unless `nu` is so small that
/// `x` is 1e60 scales away.
#[track_caller]
pub fn student_t_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    nu: impl Parameter<X, T>,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("student_t_lcdf", Location::caller()), || {
        with3(|x, [nu, mu, sigma]| log_student_t_cdf(distance(x, [mu, sigma]), nu), x, nu, mu, sigma)
    })
}

/// The logarithm of 1 minus the distribution function of Student's t distribution: see [`student_t_lcdf`].
#[track_caller]
pub fn student_t_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    nu: impl Parameter<X, T>,
    mu: impl Parameter<X, T>,
    sigma: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("student_t_lccdf", Location::caller()), || {
        with3(|x, [nu, mu, sigma]| log_student_t_cdf(-distance(x, [mu, sigma]), nu), x, nu, mu, sigma)
    })
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
    let density = |x: Exp<T>, [mu, kappa]: [Exp<T>; 2]| log_von_mises(x - mu, kappa);
    attributed(("von_mises_lpdf", Location::caller()), || with2(density, x, mu, kappa))
}

/// The log density of von Mises' distribution at an angle from its mean.
fn log_von_mises<T: Floating>(angle: Exp<T>, kappa: Exp<T>) -> Exp<T> {
    let half_sine = (angle * lit::<T>(0.5)).sin();
    // ln I0(kappa) - kappa; the scaled function has a kink at 0, and the logarithm is large for large kappa.
    let rest = cond(kappa.lt(lit::<T>(1.0)), kappa.ln_i0() - kappa, kappa.i0e().ln());
    kappa * lit::<T>(-2.0) * half_sine * half_sine - lit::<T>((2.0 * PI).ln()) - rest
}

/// The logarithm of the probability of angles between `low` and `high` from the mean on one side of it, from 0 to π.
///
/// It is the density at `low` times the integral over s of exp(-2 κ sin(s / 2) sin(low + s / 2)), by the trapezoidal rule for a double exponential
/// substitution (Takahasi and Mori, *Double exponential formulas for numerical integration*, 1974). The integral ends at `high`, or where the integrand is
/// below e^-40: its exponent is at least κ s sin(low) / 2, since the sine is concave, and 2 κ (s / π)².
fn log_von_mises_between(low: Exp<f64>, high: Exp<f64>, kappa: Exp<f64>) -> Exp<f64> {
    let (step, points) = (1.0 / 16.0, 113);
    let over = |number: f64, x: Exp<f64>| lit::<f64>(number) / x.max(1e-300);
    let end = (high - low).min(over(80.0, kappa * low.sin())).min(over(14.0, kappa.sqrt()));
    let add = |j: Exp<i64>, sum: Exp<f64>| {
        let u = (j - (points - 1) / 2).cast::<f64>() * step;
        let e = (u.sinh() * -PI).exp();
        let s = end / (e + 1.0);
        let weight = u.cosh() * e / ((e + 1.0) * (e + 1.0));
        let exponent = kappa * 2.0 * (s * 0.5).sin() * (low + s * 0.5).sin();
        sum + weight * (-exponent).exp()
    };
    let sum = iterate_indexed(points, add, lit::<f64>(0.0));
    log_von_mises(low, kappa) + (sum * end * (step * PI)).ln()
}

/// ln P(-π < X < x) of von Mises' distribution on the angles between -π and π.
fn log_von_mises_cdf<T: Floating>(x: Exp<T>, [mu, kappa]: [Exp<T>; 2]) -> Exp<T> {
    let [x, mu, kappa] = [x, mu, kappa].map(|x| x.cast::<f64>());
    let pi = lit::<f64>(PI);
    let mean = mu - (mu * (0.5 * FRAC_1_PI)).round() * (2.0 * PI);
    let angle = x - mean;
    let (size, is_right) = (angle.abs(), angle.gt(0.0));
    let is_beyond = size.gt(pi);
    // How far from the mean x is on the circle, and how far -π. A mean of 0 counts as on the side of x.
    let is_positive = mean.gt(0.0).or(mean.eq(0.0).and(is_right));
    let [at, ends] = [cond(is_beyond, pi * 2.0 - size, size), pi - cond(is_positive, mean, -mean)];
    // The angles between x and -π that do not contain the mean lie on both sides of the angle that is opposite to it, or on one.
    let is_both = is_positive.ne(is_right).and(is_beyond.not());
    let one_side = log_von_mises_between(cond(is_both, at, at.min(ends)), cond(is_both, pi, at.max(ends)), kappa);
    let log_part = cond(is_both, one_side.log_add_exp(log_von_mises_between(ends, pi, kappa)), one_side);
    let log = cond(is_right, (-log_part.exp()).ln_1p(), log_part);
    let inside = cond::<f64>(x.ge(PI), lit(0.0), log);
    cond(x.le(-PI), minus_infinity::<f64>(), inside).cast()
}

/// The logarithm of the distribution function of von Mises' distribution, for angles from -π to π: the probability of the angles between -π and `x`, as in Stan. `mu` is any angle.
#[track_caller]
pub fn von_mises_lcdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    kappa: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("von_mises_lcdf", Location::caller()), || with2(log_von_mises_cdf, x, mu, kappa))
}

/// The logarithm of 1 minus the distribution function of von Mises' distribution: see [`von_mises_lcdf`].
#[track_caller]
pub fn von_mises_lccdf<T: Floating, X: Variate<Element = T>>(
    x: X,
    mu: impl Parameter<X, T>,
    kappa: impl Parameter<X, T>,
) -> X::With<T> {
    attributed(("von_mises_lccdf", Location::caller()), || {
        with2(|x, [mu, kappa]| log_von_mises_cdf(-x, [-mu, kappa]), x, mu, kappa)
    })
}
