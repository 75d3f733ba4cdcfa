//! Gamma, beta and Dirichlet numbers, with implicit derivatives.
//!
//! NOTE [Implicit derivatives]: a sampler that rejects is no smooth function of its parameters. But the number x of a distribution with the distribution function
//! F(x, a) can be seen as the solution of F(x, a) = u for a u that does not change. So dx/da = -(dF/da) / (dF/dx), whatever the sampler does
//! (Figurnov, Mohamed and Mnih 2018).

use super::elementary::{exp, ln};
use super::key::{Key, KeyExp};
use super::numbers::{normal_of, positive_part};
use super::places;
use crate::surface::attributed;
use crate::types::{Floating, Shape, Snoc};
use crate::{Acc, Array, Exp, ToExp, cond, constant, custom_vjp, gradient, pair, shape, softmax, while_, zip_with};
use std::panic::Location;

type E = Exp<f64>;

/// Numbers of the gamma distributions with these shapes and the scale 1. In JAX, `jax.random.gamma(key, a)`; with a scale, they are `scale * gamma(..)`. NaN
/// where the shape is not a positive finite number. The derivative by the shape is the implicit one, to second order.
///
/// The method is that of Marsaglia and Tsang (2000).
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{gamma, key};
///
/// // The mean is the shape, so its derivative by the shape is 1.
/// let mean = afun(|a: Acc<Scalar<f64>>| mean(gamma(key(7), fill(1000, the(a)))));
/// let (value, by_a) = run(value_and_grad(&mean), &Array::scalar(2.5))?;
/// assert!((value.item() - 2.5).abs() < 0.2 && (by_a.item() - 1.0).abs() < 0.1);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn gamma<Sh: Shape, T: Floating>(key: impl ToExp<Key>, a: Acc<Array<Sh, T>>) -> Acc<Array<Sh, T>> {
    let key = key.to_exp().unlift();
    attributed(("gamma", Location::caller()), || {
        zip_with(|i: Exp<i64>, a: Exp<T>| gamma_at(key, i, a.cast()).cast::<T>(), places(shape(a)), a)
    })
}

/// Numbers of the beta distributions with these parameters. In JAX, `jax.random.beta(key, a, b)`. NaN where a parameter is not a positive
/// finite number. The derivatives by the parameters are the implicit ones. Arrays of different shapes are an error when the
/// program runs.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{beta, key};
///
/// let draws = run(&afun(|| beta(key(7), fill(1000, 2.0), fill(1000, 3.0))), &())?;
/// assert!((draws.as_slice().iter().sum::<f64>() / 1000.0 - 0.4).abs() < 0.05);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn beta<Sh: Shape, T: Floating>(
    key: impl ToExp<Key>,
    a: Acc<Array<Sh, T>>,
    b: Acc<Array<Sh, T>>,
) -> Acc<Array<Sh, T>> {
    let key = key.to_exp().unlift();
    attributed(("beta", Location::caller()), || {
        let both = zip_with(|a: Exp<T>, b: Exp<T>| pair(a, b), a, b);
        let draw = |i: Exp<i64>, (a, b): (Exp<T>, Exp<T>)| beta_at(key, i, a.cast(), b.cast()).cast::<T>();
        zip_with(draw, places(shape(both)), both)
    })
}

/// Vectors of the Dirichlet distributions of which each innermost row has the parameters: positive numbers with the sum 1. In JAX,
/// `jax.random.dirichlet(key, alpha)`. The derivatives by the parameters are those of [`gamma`].
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{dirichlet, key};
///
/// let shares = run(&afun(|alpha: Acc<Vector<f64>>| dirichlet(key(7), alpha)), &Array::vector(vec![1.0, 2.0, 3.0]))?;
/// assert!((shares.as_slice().iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn dirichlet<Sh: Shape, T: Floating>(
    key: impl ToExp<Key>,
    alpha: Acc<Array<Snoc<Sh>, T>>,
) -> Acc<Array<Snoc<Sh>, T>> {
    let key = key.to_exp().unlift();
    attributed(("dirichlet", Location::caller()), || {
        // Sums of tiny numbers vanish, but not those of their logarithms.
        softmax(zip_with(
            |i: Exp<i64>, a: Exp<T>| log_gamma_at(key, i, a.cast()).cast::<T>(),
            places(shape(alpha)),
            alpha,
        ))
    })
}

/// A gamma number as the product of one of a shape of at least 1, and, for a smaller shape, of a power that is given by its logarithm.
struct Factors {
    large: E,
    log_small: E,
}

/// By blocks of words from `first` on.
fn factors(key: KeyExp, i: Exp<i64>, first: u32, a: E) -> Factors {
    let is_small = a.lt(1.0);
    let d = cond::<f64>(is_small, a + 1.0, a) - 1.0 / 3.0;
    let c = (d * 9.0).sqrt().recip();
    type State = (Exp<u32>, E, E, Exp<bool>);
    let attempt = |(draw, ..): State| {
        let [u_low, u_high, v_low, v_high] = key.block(i, draw + 1);
        let (z, u) = (normal_of::<f64>(key.block(i, draw)), positive_part::<f64>(u_low, u_high));
        let root = c * z + 1.0;
        let v = root * root * root;
        let z2 = z * z;
        let is_inside = u.lt(1.0 - 0.0331 * (z2 * z2));
        // Of numbers as large as that, the difference is only rounding errors, and nearly none is rejected.
        let is_below = ln(u).lt(0.5 * z2 + d * (1.0 - v + ln(v.max(1e-300))));
        let accepted = root.gt(0.0).and(is_inside.or(is_below).or(d.gt(1e10)));
        (draw + 2, d * v, positive_part::<f64>(v_low, v_high), accepted)
    };
    let start = (constant(first), constant(0.0), constant(1.0), constant(false));
    let (_, large, u, _) = while_(|(.., accepted): State| accepted.not(), attempt, start);
    Factors { large, log_small: cond::<f64>(is_small, ln(u) / a, constant(0.0)) }
}

/// A shape for which the sampler ends, and whether it is the given one.
fn checked(a: E) -> (E, Exp<bool>) {
    let is_valid = a.gt(0.0).and(a.is_finite());
    (cond::<f64>(is_valid, a, constant(1.0)), is_valid)
}

fn or_nan(is_valid: Exp<bool>, x: E) -> E {
    cond::<f64>(is_valid, x, constant(f64::NAN))
}

/// The gamma number of an element.
fn gamma_at(key: KeyExp, i: Exp<i64>, a: E) -> E {
    let draw = move |a: E| {
        let (a, is_valid) = checked(a);
        let f = factors(key, i, 0, a);
        or_nan(is_valid, f.large * exp(f.log_small))
    };
    // A number that is rounded to 0 stays there.
    let rule = |a: E, x: E, dx: E| cond::<f64>(x.eq(0.0), constant(0.0), dx * x * log_slope(a, x.ln()));
    custom_vjp(draw, rule)(a)
}

/// Its logarithm, which does not vanish for small shapes.
fn log_gamma_at(key: KeyExp, i: Exp<i64>, a: E) -> E {
    let draw = move |a: E| {
        let (a, is_valid) = checked(a);
        let f = factors(key, i, 0, a);
        or_nan(is_valid, ln(f.large) + f.log_small)
    };
    custom_vjp(draw, |a, log, d_log| d_log * log_slope(a, log))(a)
}

/// The derivative of the logarithm of a gamma number by the shape: NOTE [Implicit derivatives].
fn log_slope(a: E, log: E) -> E {
    let x = log.exp();
    let (by_a, by_x) = gradient(|(a, x): (E, E)| a.gamma_inc(x), (a, x));
    // For small x, F is x^a / Γ(a + 1).
    let near_zero = ((a + 1.0).digamma() - log) / a;
    cond::<f64>(x.lt(1e-30), near_zero, -by_a / (by_x * x))
}

/// The beta number of an element: g / (g + h) of two gamma numbers.
fn beta_at(key: KeyExp, i: Exp<i64>, a: E, b: E) -> E {
    let draw = move |(a, b): (E, E)| {
        let ((a, a_is_valid), (b, b_is_valid)) = (checked(a), checked(b));
        let (g, h) = (factors(key, i, 0, a), factors(key, i, 1 << 31, b));
        let log_ratio = (ln(h.large) + h.log_small) - (ln(g.large) + g.log_small);
        or_nan(a_is_valid.and(b_is_valid), (exp(log_ratio.min(700.0)) + 1.0).recip())
    };
    let rule = |(a, b): (E, E), x: E, dx: E| {
        let (by_a, by_b, by_x) = gradient(|(a, b, x): (E, E, E)| a.beta_inc(b, x), (a, b, x));
        // Where the number is rounded to an end, it stays there.
        let is_inside = x.gt(0.0).and(x.lt(1.0));
        let factor = cond::<f64>(is_inside, -dx / by_x, constant(0.0));
        cond::<(f64, f64)>(is_inside, (by_a * factor, by_b * factor), (constant(0.0), constant(0.0))).unlift()
    };
    custom_vjp(draw, rule)((a, b))
}
