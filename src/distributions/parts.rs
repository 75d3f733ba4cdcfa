//! Parts of densities that are precise where their formulas cancel or overflow.

use crate::types::Floating;
use crate::{Exp, cond, lit};

/// ln √(2π).
pub(super) const LN_SQRT_2_PI: f64 = 0.918_938_533_204_672_7;

pub(super) fn minus_infinity<T: Floating>() -> Exp<T> {
    lit(f64::NEG_INFINITY)
}

/// A log density where its argument is in the support, and -∞ elsewhere, with derivatives of zero. NaN stays.
pub(super) fn inside<T: Floating>(support: Exp<bool>, x: Exp<T>, density: Exp<T>) -> Exp<T> {
    cond(support, density, cond(x.is_nan(), x, minus_infinity()))
}

/// ln(1 + w²), whose square may overflow.
pub(super) fn ln_1p_square<T: Floating>(w: Exp<T>) -> Exp<T> {
    let size = w.abs();
    cond(size.gt(lit::<T>(1e9)), size.max(lit::<T>(1.0)).ln() * lit::<T>(2.0), (w * w).ln_1p())
}

/// ln(1 - e^-t), for t > 0.
pub(super) fn ln_1m_exp<T: Floating>(t: Exp<T>) -> Exp<T> {
    cond(t.lt(lit::<T>(std::f64::consts::LN_2)), (-(-t).exp_m1()).ln(), (-(-t).exp()).ln_1p())
}

/// The logarithm of a probability that is known with its complement, precise where it is near 0 and where it is near 1.
pub(super) fn ln_of_part<T: Floating>(part: Exp<T>, rest: Exp<T>) -> Exp<T> {
    cond(part.lt(lit::<T>(0.5)), part.ln(), (-rest).ln_1p())
}

/// The shapes from which on Stirling's series is used.
const LARGE: f64 = 10.0;

/// ln Γ(a) - (a - ½) ln a + a - ln √(2π), for `a` of at least [`LARGE`].
fn stirling<T: Floating>(a: Exp<T>) -> Exp<T> {
    let r = a.recip();
    let r2 = r * r;
    let terms = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    r * terms.into_iter().rev().fold(lit::<T>(0.0), |sum, term| sum * r2 + lit::<T>(term))
}

/// ln Γ(a + ½) - ln Γ(a).
pub(super) fn ln_gamma_half_step<T: Floating>(a: Exp<T>) -> Exp<T> {
    let half = lit::<T>(0.5);
    let b = a + half;
    let by_series = || a * (half / a).ln_1p() + half * a.ln() - half + stirling(b) - stirling(a);
    cond(a.lt(lit::<T>(LARGE)), b.lgamma() - a.lgamma(), by_series())
}

/// The logarithm of the gamma density of shape `a` and rate `rate` at `x` ≥ 0.
///
/// NOTE [Densities without cancellation]: terms such as a ln x and ln Γ(a) may be millions, and their sum small. For large a, Stirling's series takes the
/// large terms away: what is left is a times the difference of a logarithm and its tangent, which is small where the density is not. The densities of
/// other distributions are quotients of gamma densities: a gamma variable, given its sum 1 with another one, has a beta distribution, for
/// example.
pub(super) fn log_gamma_density<T: Floating>(x: Exp<T>, a: Exp<T>, rate: Exp<T>) -> Exp<T> {
    let (y, one) = (rate * x, lit::<T>(1.0));
    let direct = || (a - one).xlogy(x) + a * rate.ln() - y - a.lgamma();
    let by_series = || log_scale(a) + (a - one) * below_tangent(y, a) - (y - a) / a + rate.ln() - a.ln();
    finite_or_nothing(y, cond(a.lt(lit::<T>(LARGE)), direct(), by_series()))
}

/// The same times x, as a function of y = `rate` x: ln(y^a e^-y / Γ(a)).
pub(super) fn log_gamma_power<T: Floating>(y: Exp<T>, a: Exp<T>) -> Exp<T> {
    let direct = || a * y.ln() - y - a.lgamma();
    finite_or_nothing(y, cond(a.lt(lit::<T>(LARGE)), direct(), log_scale(a) + a * below_tangent(y, a)))
}

/// The same as a function of ln y, which may be so small that y vanishes.
pub(super) fn log_gamma_power_of_log<T: Floating>(log_y: Exp<T>, a: Exp<T>) -> Exp<T> {
    let y = log_y.exp();
    let direct = || a * log_y - y - a.lgamma();
    let far = || log_scale(a) + a * (log_y - a.ln() + lit::<T>(1.0)) - y;
    let near = || log_scale(a) + a * below_tangent(y, a);
    let by_series = cond(y.lt(a * lit::<T>(0.5)), far(), near());
    finite_or_nothing(y, cond(a.lt(lit::<T>(LARGE)), direct(), by_series))
}

/// The logarithm of a density at y, which is -∞ at ∞.
fn finite_or_nothing<T: Floating>(y: Exp<T>, density: Exp<T>) -> Exp<T> {
    cond(y.eq(lit::<T>(f64::INFINITY)), minus_infinity(), density)
}

/// ln(y / a) - (y - a) / a, which is 0 at y = a and negative elsewhere.
fn below_tangent<T: Floating>(y: Exp<T>, a: Exp<T>) -> Exp<T> {
    let (t, quotient) = ((y - a) / a, y / a);
    // ln(1 + t) is 2 artanh(r), and t - 2 r is t r.
    let r = t / (t + lit::<T>(2.0));
    let r2 = r * r;
    let series = (1..=11).rev().fold(lit::<T>(0.0), |sum, k| sum * r2 + lit::<T>(2.0 / f64::from(2 * k + 1)));
    let near = r * (r2 * series - t);
    cond(t.abs().lt(lit::<T>(0.3)), near, quotient.ln() - t)
}

/// ln(a^a e^-a / Γ(a)), for large `a`.
fn log_scale<T: Floating>(a: Exp<T>) -> Exp<T> {
    a.ln() * lit::<T>(0.5) - lit::<T>(LN_SQRT_2_PI) - stirling(a)
}

/// The logarithm of the probability of a count of the Poisson distribution with this mean, which is a gamma density of the mean.
pub(super) fn log_poisson<T: Floating>(count: Exp<T>, mean: Exp<T>) -> Exp<T> {
    log_gamma_density(mean, count + lit::<T>(1.0), lit(1.0))
}
