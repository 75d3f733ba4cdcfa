//! The incomplete beta function.
//!
//! With `t / (1 - t) = x / (1 - x) e^-s` in the integral of `t^(a - 1) (1 - t)^(b - 1)`, it is `d S`, where `d` is `x^a (1 - x)^b / B(a, b)`
//! and `S` is the integral over `s > 0` of `e^-h`,
//!
//! `h = (a - c x) s + c r`, `r = ln(1 - x + x e^-s) + x s`, `c = a + b`.
//!
//! Below the mean, for `x <= a / c`, both terms of `h` are positive; above, [`Exp::beta_inc`] takes the other part of the distribution,
//! which is the same with `a` and `b`, `x` and `1 - x` exchanged. So do the terms of the derivatives have one sign, and for small `a`
//! and `b`, too, by two equations:
//!
//! - for `a < 1`, I(a, b) is `d / a + I(a + 1, b)`,
//! - for `b < 1`, where the integrand falls slowly before it falls fast, the part near 1 is the series of `(1 - r)^(a - 1)` in the
//!   integral of `r^(b - 1) (1 - r)^(a - 1)`.
//!
//! The logarithm of `d` has the derivatives `ln x + ψ(c) - ψ(a)` and `ln(1 - x) + ψ(c) - ψ(b)`; `-h` has `-((1 - x) s + r)` and `x s - r`.

use super::gamma_parts::{
    difference_of_digammas, exp_minus_line, ln_1p_minus_line, ln_ratio, recip_gamma, reduced, stirling,
};
use super::pairs::{self, Pair, exactly};
use crate::surface::exp::{along, constant};
use crate::surface::graph::attribute_to;
use crate::surface::scalar_loops::counted;
use crate::surface::{Exp, ToExp, cond, lit};
use crate::types::Floating;
use std::panic::Location;

type E = Exp<f64>;

impl<T: Floating> Exp<T> {
    /// The regularised incomplete beta function I_`x`(a, `b`), where `self` is a: the distribution function of the beta distribution.
    /// The rest, 1 - I_`x`(a, `b`), is I_(1 - `x`)(`b`, a). NaN unless a and `b` are positive and `x` is between 0 and 1.
    ///
    /// ```
    /// use accel_core::interp::Interpreter;
    /// use accel_core::prelude::*;
    ///
    /// let uniform = afun(|xs: Acc<Vector<f64>>| map(|x| lit::<f64>(1.0).beta_inc(1.0, x), xs));
    /// let ys = run_with(&Interpreter, &uniform, &Array::vector(vec![0.0, 0.25])).unwrap();
    /// assert!((ys.to_vec()[1] - 0.25).abs() < 1e-15);
    /// ```
    #[track_caller]
    pub fn beta_inc(self, b: impl ToExp<T>, x: impl ToExp<T>) -> Exp<T> {
        let _site = attribute_to("beta_inc", Location::caller());
        regularised(self, b.to_exp(), x.to_exp(), Which::Part)
    }

    /// The rest of [`Exp::beta_inc`], 1 - I_`x`(a, `b`), where `self` is a: precise where it is small, also if 1 - `x` would be rounded.
    ///
    /// ```
    /// use accel_core::interp::Interpreter;
    /// use accel_core::prelude::*;
    ///
    /// let rest = afun(|xs: Acc<Vector<f64>>| map(|x| lit::<f64>(1.0).beta_inc_upper(1e9, x), xs));
    /// let ys = run_with(&Interpreter, &rest, &Array::vector(vec![1e-9])).unwrap();
    /// assert!((ys.to_vec()[0] - (-1.0f64).exp()).abs() < 1e-9);
    /// ```
    #[track_caller]
    pub fn beta_inc_upper(self, b: impl ToExp<T>, x: impl ToExp<T>) -> Exp<T> {
        let _site = attribute_to("beta_inc_upper", Location::caller());
        regularised(self, b.to_exp(), x.to_exp(), Which::Rest)
    }
}

/// The part of the distribution below `x`, or the rest.
#[derive(Clone, Copy)]
enum Which {
    Part,
    Rest,
}

fn regularised<T: Floating>(a: Exp<T>, b: Exp<T>, x: Exp<T>, which: Which) -> Exp<T> {
    let (a, b, x) = (a.cast::<f64>(), b.cast::<f64>(), x.cast::<f64>());
    let i = incomplete(a, b, x, which);
    (i.value.detach() + along(x, i.by_x) + along(a, i.by_a) + along(b, i.by_b)).cast()
}

struct Incomplete {
    value: E,
    by_a: E,
    by_b: E,
    by_x: E,
}

fn incomplete(a: E, b: E, x: E, which: Which) -> Incomplete {
    // The products of larger pairs overflow.
    let bounded = |a: E| cond::<f64>(a.gt(1e290), lit(1e290), cond::<f64>(a.gt(0.0), a, lit(f64::NAN)));
    let (a, b) = (bounded(a), bounded(b));
    let x = cond::<f64>(x.ge(0.0).and(x.le(1.0)), x, lit(f64::NAN));
    let is_end = x.eq(0.0).or(x.eq(1.0));
    // Any other number: its results are not used.
    let inner = cond::<f64>(is_end, lit(0.5), x);
    let y = lit::<f64>(1.0) - inner;
    let y_exactly = pairs::sum(lit(1.0), -inner.detach());
    let products = exactly(a.detach()).times(y_exactly).plus(pairs::product(b.detach(), inner.detach()).negated());
    let far = products.0.detach() + along(a, y) + along(b, -inner) + along(inner, -(a + b));
    let low = |far: E| Lower { a, b, x: inner, y, far };
    let d = density(low(far), y_exactly);
    // Beyond the mean, the other part is smaller. Where it is nearly 1 nonetheless, the rest would lose digits.
    let other = |far: E, b: E| far.lt(0.0).and(b.ge(1.0).or(d.le(b * 0.5)));
    let is_upper = match which {
        Which::Part => other(far, b),
        Which::Rest => other(-far, a).not(),
    };
    let either = |a: E, b: E| (cond::<f64>(is_upper, b, a), cond::<f64>(is_upper, a, b));
    let ((p, q), (x_part, y_part)) = (either(a, b), either(inner, y));
    let part = lower(Lower { a: p, b: q, x: x_part, y: y_part, far: either(far, -far).0 }, d);
    let (below, above) = either(part.value, lit::<f64>(1.0) - part.value);
    let (by_a, by_b) = either(part.by_a, part.by_b);
    let (value, end, rising) = match which {
        Which::Part => (below, x, 1.0),
        Which::Rest => (above, lit::<f64>(1.0) - x, -1.0),
    };
    let sign = cond::<f64>(is_upper, lit(-rising), lit(rising));
    let at_end = |end: E, inside: E| cond::<f64>(is_end, end, inside);
    let density_at_end = cond::<f64>(x.eq(0.0), b * x.pow(a - 1.0), a * (lit::<f64>(1.0) - x).pow(b - 1.0));
    Incomplete {
        value: at_end(end, value),
        by_a: at_end(lit(0.0), sign * by_a),
        by_b: at_end(lit(0.0), sign * by_b),
        by_x: at_end(density_at_end, d / (inner * y)) * rising,
    }
}

/// The part from 0 to `x`: `y` is `1 - x`, and `far` is `a y - b x`, which is `a - (a + b) x`.
#[derive(Clone, Copy)]
struct Lower {
    a: E,
    b: E,
    x: E,
    y: E,
    far: E,
}

impl Lower {
    /// `ln x + ψ(c) - ψ(a)`
    fn slope_by_a(self) -> E {
        let c = self.a + self.b;
        let is_near = self.far.lt(self.a * 0.5);
        let ln = cond::<f64>(is_near, (-self.far / self.a).ln_1p(), (self.x * (c / self.a)).ln());
        ln + difference_of_digammas(self.a, self.b)
    }
    /// `ln y + ψ(c) - ψ(b)`
    fn slope_by_b(self) -> E {
        let Lower { a, b, x, y, far } = self;
        Lower { a: b, b: a, x: y, y: x, far: -far }.slope_by_a()
    }
}

/// `x^a y^b / B(a, b)`, with its derivatives. `y` is `1 - x` exactly.
fn density(of: Lower, y: Pair) -> E {
    let [a, b, x] = [of.a, of.b, of.x].map(E::detach);
    let c = pairs::sum(a, b);
    let is_less = a.lt(b);
    let pair = |a: Pair, b: Pair| Pair(cond::<f64>(is_less, a.0, b.0), cond::<f64>(is_less, a.1, b.1));
    let (few, many) = (pair(exactly(a), exactly(b)).0, pair(exactly(b), exactly(a)).0);
    let (x_few, x_many) = (pair(exactly(x), y), pair(y, exactly(x)));
    let ln_many = |of: Pair, a: E| exactly(a).times(ln_ratio(cut(of.times(c), a), exactly(a)));
    // The power of a pair with a small exponent.
    let power = |x: Pair, a: E| x.0.pow(a) * (a * x.1 / x.0.max(f64::MIN_POSITIVE) + 1.0);
    let of_few = || {
        let [reduced_few, reduced_many, reduced_c] = [few, many, c.0].map(reduced);
        let lgamma = |of: &super::gamma_parts::Reduced| of.argument.lgamma();
        let e = lgamma(&reduced_c) - lgamma(&reduced_few) - lgamma(&reduced_many) + c.1 * c.0.digamma();
        let recip = reduced_few.recip / reduced_c.recip * reduced_many.recip;
        power(x_few, few) * power(x_many, many) * recip * e.exp()
    };
    let of_one = || {
        let e = ln_many(x_many, many).plus(exactly(-few));
        let powers = power(cut_above(x_few.times(c)), few) * recip_gamma(few);
        powers * (e.0.exp() * (e.1 + 1.0)) * (many / c.0).sqrt() * (stirling(c.0) - stirling(many)).exp()
    };
    let of_many = || {
        let e = ln_many(x_many, many).plus(ln_many(x_few, few));
        let scale = (many / c.0 * few * (0.5 * std::f64::consts::FRAC_1_PI)).sqrt();
        scale * (e.0.exp() * (e.1 + 1.0)) * (stirling(c.0) - stirling(many) - stirling(few)).exp()
    };
    let value = cond::<f64>(many.lt(10.0), of_few(), cond::<f64>(few.lt(10.0), of_one(), of_many()));
    // The exponential is 1, and has the derivatives of the logarithm.
    let slope = along(of.x, of.far / (of.x * of.y)) + along(of.a, of.slope_by_a()) + along(of.b, of.slope_by_b());
    value.detach() * slope.exp()
}

/// `p`, or what makes the density 0: `p / a` below that.
fn cut(p: Pair, a: E) -> Pair {
    let least = a * 1e-33;
    let is_less = p.0.lt(least);
    Pair(cond::<f64>(is_less, least, p.0), cond::<f64>(is_less, lit(0.0), p.1))
}

/// `p`, or a number whose powers do not overflow: the density is 0 there.
fn cut_above(p: Pair) -> Pair {
    let is_more = p.0.gt(1e20);
    Pair(cond::<f64>(is_more, lit(1e20), p.0), cond::<f64>(is_more, lit(0.0), p.1))
}

struct Part {
    value: E,
    by_a: E,
    by_b: E,
}

/// Where `d` is the density.
fn lower(of: Lower, d: E) -> Part {
    let Lower { a, b, x, y, far } = of;
    let zero = || lit::<f64>(0.0);
    let c = a + b;
    let is_small = a.lt(1.0);
    // I(a, b) = first + I(a + 1, b)
    let first = cond::<f64>(is_small, d / a, zero());
    let rest = Lower { a: cond::<f64>(is_small, a + 1.0, a), far: cond::<f64>(is_small, far + y, far), ..of };
    let d = cond::<f64>(is_small, d * x * (c / a), d);
    let difference = cond::<f64>(is_small, c.recip(), zero());
    let (slope_a, slope_b) = (rest.slope_by_a(), of.slope_by_b());
    let by_a = first * (slope_a - difference);
    let by_b = first * slope_b;
    let (a, slope_b) = (rest.a, slope_b + difference);
    // The part for t = 1 - r, where r is between y and `end`.
    let end = (a + 4.0).recip();
    let has_end = b.lt(1.0).and(y.lt(end));
    let cut = |end: E, whole: E| cond::<f64>(has_end, end, whole);
    let to = cut(end, y);
    let (x_to, power) = (cut(lit::<f64>(1.0) - end, x), (to / y).pow(b));
    let (ln_x, ln_y) = ((-(to - y) / x).ln_1p(), cut((end / y).ln(), zero()));
    let ln_whole = (-cut(y, zero())).ln_1p();
    let near = cond::<(f64, f64, f64)>(has_end, near_one(a, b, end, ln_y), (zero(), zero(), zero()));
    let (w, w_a, w_b) = near.unlift();
    let scale = d * power;
    let (weight, scale) = (scale * (-(a * ln_whole)).exp(), scale * (a * ln_x).exp());
    let far = cut(a * to - b * x_to, rest.far);
    let (total, by_a_to, by_b_to) = integrals(Lower { a, b, x: x_to, y: to, far });
    Part {
        value: first + (scale * total + weight * w),
        by_a: by_a + (scale * (total * (slope_a + ln_x) - by_a_to) + weight * (w * (slope_a - ln_whole) + w_a)),
        by_b: by_b + (scale * (total * (slope_b + ln_y) + by_b_to) + weight * (w * (slope_b + ln_y) - w_b)),
    }
}

/// The integral of `r^(b - 1) (1 - r)^(a - 1)` from `end e^-ln` to `end`, divided by `end^b`, its derivative by `a`, and minus its
/// derivative by `b`.
fn near_one(a: E, b: E, end: E, ln: E) -> (E, E, E) {
    type State = (E, E, E, E, E, E);
    // The coefficient of (1 - r)^(a - 1), its derivative by a, and the power of `end`.
    let add = |k: Exp<i64>, (e, e_a, power, w, w_a, w_b): State| {
        let k = k.cast::<f64>();
        let n = b + k;
        let part = -(-(n * ln)).exp_m1();
        let term = power * (part / n);
        let by_b = power * ((part - n * ln * (-(n * ln)).exp()) / (n * n));
        let (next, factor) = (k + 1.0, k + 1.0 - a);
        let sums = (w + e * term, w_a + e_a * term, w_b + e * by_b);
        (e * factor / next, (e_a * factor - e) / next, power * end, sums.0, sums.1, sums.2)
    };
    let (zero, one) = (lit::<f64>(0.0), lit::<f64>(1.0));
    let init = (one, zero, one, zero, zero, zero).to_exp();
    let (.., w, w_a, w_b) = counted::<(f64, f64, f64, f64, f64, f64), _>(constant(26i64), add, init);
    (w, w_a, w_b)
}

/// `S`, and the same with the factors `(1 - x) s + r` and `x s - r`, by the trapezoidal rule for a double exponential substitution
/// (Takahasi and Mori, *Double exponential formulas for numerical integration*, 1974).
fn integrals(of: Lower) -> (E, E, E) {
    let Lower { a, b, x, y, far } = of;
    let step = 1.0 / 16.0;
    let c = a + b;
    let width = (far + (c * x * y).sqrt()).recip();
    // r in terms of the smaller one of x and y: for y, s is negative.
    let is_right = y.lt(0.5);
    let (least, sign) = (cond::<f64>(is_right, y, x), cond::<f64>(is_right, lit(1.0), lit(-1.0)));
    let add = |j: Exp<i64>, (total, rest, by_a, by_b): (E, E, E, E)| {
        let u = (j - 60).cast::<f64>() * step;
        let e = (-u).exp();
        let s = width * (u - e).exp();
        let z = least * (s * sign).exp_m1();
        let curved = ln_1p_minus_line(z) + least * exp_minus_line(s * sign);
        let r = cond::<f64>(z.lt(1.0), curved, z.ln_1p() - least * (s * sign));
        let term = s * (e + 1.0) * (-(far * s + c * r)).exp();
        let next = pairs::sum(total, term);
        (next.0, rest + next.1, by_a + term * (y * s + r), by_b + term * (x * s - r))
    };
    let zero = lit::<f64>(0.0);
    let init = (zero, zero, zero, zero).to_exp();
    let (total, rest, by_a, by_b) = counted::<(f64, f64, f64, f64), _>(constant(127i64), add, init);
    ((total + rest) * step, by_a * step, by_b * step)
}
