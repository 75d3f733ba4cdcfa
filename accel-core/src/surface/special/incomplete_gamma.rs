//! The incomplete gamma functions.
//!
//! Value and derivatives come from integrals whose terms are all positive: with `t = x e^(± s)` in the integral of `t^(a - 1) e^-t`,
//!
//! - `Q = d S`, where `S` is the integral of `e^(-(x - a) s - x (e^s - 1 - s))` over `s > 0`, for `x >= a`,
//! - `P = d S`, where `S` is the integral of `e^(-(a - x) s - x (e^-s - 1 + s))` over `s > 0`, for `x < a`,
//!
//! and `d = x^a e^-x / Γ(a)`. Its logarithm has the derivatives `(a - x) / x` and `ln x - ψ(a)`, and a factor `± s` in the integral makes
//! the derivative of `S` by `a`. There too, all terms have the same sign.

use super::gamma_parts::{digamma_coefficients, exp_minus_line, ln_ratio, recip_gamma, series, stirling};
use super::pairs::{self, exactly};
use crate::surface::exp::{along, constant};
use crate::surface::graph::attribute_to;
use crate::surface::scalar_loops::counted;
use crate::surface::{Exp, ToExp, cond, lit};
use crate::types::Floating;
use std::panic::Location;

type E = Exp<f64>;

impl<T: Floating> Exp<T> {
    /// The regularised lower incomplete gamma function P(a, `x`), where `self` is a: the distribution function of the gamma
    /// distribution. NaN if one of them is negative.
    ///
    /// ```
    /// use accel_core::interp::Interpreter;
    /// use accel_core::prelude::*;
    ///
    /// let exponential = afun(|xs: Acc<Vector<f64>>| map(|x| lit::<f64>(1.0).gamma_inc(x), xs));
    /// let ys = run_with(&Interpreter, &exponential, &Array::vector(vec![0.0, 1.0])).unwrap();
    /// assert!((ys.to_vec()[1] - (1.0 - (-1f64).exp())).abs() < 1e-15);
    /// ```
    #[track_caller]
    pub fn gamma_inc(self, x: impl ToExp<T>) -> Exp<T> {
        let _site = attribute_to("gamma_inc", Location::caller());
        let (a, x) = (self.cast::<f64>(), x.to_exp().cast::<f64>());
        let i = incomplete(a, x);
        (i.lower.detach() + along(x, i.by_x) + along(a, i.by_a)).cast()
    }

    /// The regularised upper incomplete gamma function Q(a, `x`) = 1 - P(a, `x`), precise also where it is small.
    #[track_caller]
    pub fn gamma_inc_upper(self, x: impl ToExp<T>) -> Exp<T> {
        let _site = attribute_to("gamma_inc_upper", Location::caller());
        let (a, x) = (self.cast::<f64>(), x.to_exp().cast::<f64>());
        let i = incomplete(a, x);
        (i.upper.detach() - (along(x, i.by_x) + along(a, i.by_a))).cast()
    }
}

/// P, Q, and the derivatives of P.
struct Incomplete {
    lower: E,
    upper: E,
    by_x: E,
    by_a: E,
}

fn incomplete(a: E, x: E) -> Incomplete {
    // The products of larger pairs overflow.
    let bounded = |x: E| cond::<f64>(x.gt(1e290), lit(1e290), cond::<f64>(x.lt(0.0), lit(f64::NAN), x));
    let (a, x) = (bounded(a), bounded(x));
    let is_small = x.lt(1.0).and(a.lt(1.0));
    // For small numbers, this is the part from 1 on.
    let from = cond::<f64>(is_small, lit(1.0), x);
    let is_upper = from.ge(a);
    let d = density(a, from);
    let (integral, moment) = integrals(a, from, is_upper);
    let (tail, rest) = (d.value * integral, lit::<f64>(1.0) - d.value * integral);
    let change = d.value * cond::<f64>(is_upper, -(integral * d.log + moment), integral * d.log - moment);
    let [lower, upper] = [(rest, tail), (tail, rest)].map(|(a, b)| cond::<f64>(is_upper, a, b));
    let part = |s: Small| (s.lower, s.upper + upper, s.by_a, s.density);
    let (lower, upper, by_a, density) =
        cond::<(f64, f64, f64, f64)>(is_small, part(small(a, x)), (lower, upper, change, d.value)).unlift();
    let is_zero = x.eq(0.0);
    let by_x = cond::<f64>(is_zero, x.pow(a - 1.0), density / x);
    Incomplete { lower, upper, by_x, by_a: cond::<f64>(is_zero, lit(0.0), by_a) }
}

/// `x^a e^-x / Γ(a)`, and the derivative of its logarithm by `a`.
struct Density {
    value: E,
    log: E,
}

fn density(a: E, x: E) -> Density {
    let (value, log) = cond::<(f64, f64)>(a.lt(10.0), density_of_few(a, x), density_of_many(a, x)).unlift();
    // The exponential is 1, and has the derivatives of the logarithm.
    Density { value: value.detach() * (along(x, (a - x) / x) + along(a, log)).exp(), log }
}

/// For `a` below 10.
fn density_of_few(a: E, x: E) -> (E, E) {
    // The square does not lose digits before it vanishes.
    let e = (x * -0.5).exp();
    let value = cond::<f64>(x.gt(1600.0), lit(0.0), x.pow(a) * e * e * recip_gamma(a));
    (value, x.ln() - a.digamma())
}

/// By Stirling's series, with the exponent `a - x + a ln(x / a)` as a pair.
fn density_of_many(a: E, x: E) -> (E, E) {
    // Below that, the density is 0.
    let ln = ln_ratio(exactly(x.max(a * 1e-33)), exactly(a));
    let exponent = pairs::sum(a, -x).plus(exactly(a).times(ln));
    let r = a.recip();
    let scale = (a * std::f64::consts::FRAC_1_PI * 0.5).sqrt() * (-stirling(a)).exp();
    let value = scale * (exponent.0.exp() * (exponent.1 + 1.0));
    (value, ln.0 + (r * 0.5 + series(&digamma_coefficients(), r * r) * (r * r)))
}

/// `S`, and the same with a factor `s`, by the trapezoidal rule for a double exponential substitution (Takahasi and Mori, *Double
/// exponential formulas for numerical integration*, 1974).
fn integrals(a: E, x: E, is_upper: Exp<bool>) -> (E, E) {
    let step = 1.0 / 16.0;
    let distance = (x - a).abs();
    let width = (distance + x.sqrt()).recip();
    let add = |j: Exp<i64>, (total, rest, moment): (E, E, E)| {
        let u = (j - 60).cast::<f64>() * step;
        let e = (-u).exp();
        let s = width * (u - e).exp();
        let growth = exp_minus_line(cond::<f64>(is_upper, s, -s));
        let term = s * (e + 1.0) * (-(distance * s + x * growth)).exp();
        let next = pairs::sum(total, term);
        (next.0, rest + next.1, moment + term * s)
    };
    let zero = lit::<f64>(0.0);
    let (total, rest, moment) = counted::<(f64, f64, f64), _>(constant(127i64), add, (zero, zero, zero).to_exp());
    ((total + rest) * step, moment * step)
}

/// For `a` and `x` below 1: P, what Q is more than from 1 on, the derivative of P by `a`, and `x^a e^-x / Γ(a)`.
struct Small {
    lower: E,
    upper: E,
    by_a: E,
    density: E,
}

/// By the series of `e^-t` in the integral of `t^(a - 1) e^-t`, from 0 to `x` and from `x` to 1.
fn small(a: E, x: E) -> Small {
    let log = x.ln();
    type State = (E, E, E, E, E);
    // (-x)^k / k! and (-1)^k / k!
    let add = |k: Exp<i64>, (power, one, sum, by_a, between): State| {
        let k = (k + 1).cast::<f64>();
        let (power, one, n) = (power * (-x / k), one / -k, a + k);
        (power, one, sum + power / n, by_a - power / (n * n), between - one * (n * log).exp_m1() / n)
    };
    let (zero, unit) = (lit::<f64>(0.0), lit::<f64>(1.0));
    let init = (unit, unit, zero, zero, zero).to_exp();
    let (_, _, sum, by_a, between) = counted::<(f64, f64, f64, f64, f64), _>(constant(19i64), add, init);
    let recip = (-(a + 1.0).lgamma()).exp();
    let power = recip * x.pow(a);
    let lower = power * (a * sum + 1.0);
    Small {
        lower,
        upper: recip * (a * between - (a * log).exp_m1()),
        by_a: lower * (log - (a + 1.0).digamma()) + power * (sum + a * by_a),
        density: power * a * (-x).exp(),
    }
}
