//! Poisson numbers.

use super::elementary::{exp, ln};
use super::key::{Key, KeyExp};
use super::numbers::{positive_part, unit_interval};
use super::places;
use crate::surface::attributed;
use crate::types::{Floating, Shape};
use crate::{Acc, Array, Exp, ToExp, cond, constant, shape, while_, zip_with};
use std::panic::Location;

type E = Exp<f64>;

/// Numbers of the Poisson distributions with these means. In JAX, `jax.random.poisson(key, rate)`. -1 where the mean is negative, infinite or NaN.
///
/// For means below 10, by inversion; above, by the transformed rejection of Hörmann, *The transformed rejection method for generating Poisson
/// random variables* (1993).
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{key, poisson};
///
/// let counts = run(&afun(|rates: Acc<Vector<f64>>| poisson(key(7), rates)), &Array::vector(vec![0.0, 3.0, 1e6]))?;
/// assert!(counts.as_slice()[0] == 0 && (counts.as_slice()[2] - 1_000_000).abs() < 5_000);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn poisson<Sh: Shape, T: Floating>(key: impl ToExp<Key>, rate: Acc<Array<Sh, T>>) -> Acc<Array<Sh, i64>> {
    let key = key.to_exp().unlift();
    attributed(("poisson", Location::caller()), || {
        zip_with(|i: Exp<i64>, rate: Exp<T>| poisson_at(key, i, rate.cast()), places(shape(rate)), rate)
    })
}

fn poisson_at(key: KeyExp, i: Exp<i64>, rate: E) -> Exp<i64> {
    let is_valid = rate.ge(0.0).and(rate.is_finite());
    let few = |rate: E| inverted(key, i, rate);
    let many = |rate: E| rejected(key, i, rate);
    let count = cond::<f64>(rate.lt(10.0), few(rate.max(0.0).min(10.0)), many(rate.max(10.0).min(1e300)));
    cond::<i64>(is_valid, count.cast::<i64>(), constant(-1i64))
}

/// The least count whose probability, with those of all smaller ones, is more than a number of the interval.
fn inverted(key: KeyExp, i: Exp<i64>, rate: E) -> E {
    let [low, high, ..] = key.block(i, constant(0u32));
    let u = unit_interval::<f64>(low, high);
    let next = |(count, term, sum): (E, E, E)| {
        let count = count + 1.0;
        let term = term * rate / count;
        (count, term, sum + term)
    };
    let first = exp(-rate);
    // The sum of all terms may be rounded to less than 1.
    while_(|(count, _, sum): (E, E, E)| u.ge(sum).and(count.lt(100.0)), next, (constant(0.0), first, first)).0
}

fn rejected(key: KeyExp, i: Exp<i64>, rate: E) -> E {
    let (root, log_rate) = (rate.sqrt(), ln(rate));
    let b = root * 2.53 + 0.931;
    let a = b * 0.02483 - 0.059;
    let inverse_alpha = 1.1328 / (b - 3.4) + 1.1239;
    let is_squeezed = 0.9277 - 3.6224 / (b - 2.0);
    type State = (Exp<u32>, E, Exp<bool>);
    let attempt = |(draw, ..): State| {
        let [u_low, u_high, v_low, v_high] = key.block(i, draw);
        let (u, v) = (unit_interval::<f64>(u_low, u_high) - 0.5, positive_part::<f64>(v_low, v_high));
        let us = 0.5 - u.abs();
        let count = ((a * 2.0 / us + b) * u + rate + 0.43).floor();
        let at_once = us.ge(0.07).and(v.le(is_squeezed));
        let outside = count.lt(0.0).or(us.lt(0.013).and(v.gt(us)));
        let height = ln(v * inverse_alpha / (a / (us * us) + b));
        let is_below = height.le(count * log_rate - rate - log_factorial(count.max(0.0)));
        (draw + 1, count, at_once.or(outside.not().and(is_below)))
    };
    let start = (constant(0u32), constant(0.0), constant(false));
    while_(|(.., accepted): State| accepted.not(), attempt, start).1
}

/// ln n!, by Stirling's series at n + 1 or, for small n, at n + 9.
fn log_factorial(n: E) -> E {
    let is_small = n.lt(10.0);
    let factors = (1..=8).map(|k| n + f64::from(k)).reduce(|x, y| x * y).unwrap_or(n);
    let z = cond::<f64>(is_small, n + 9.0, n + 1.0);
    let r = z.recip();
    let r2 = r * r;
    let series = r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0))));
    let at_z = (z - 0.5) * ln(z) - z + 0.918_938_533_204_672_7 + series;
    at_z - cond::<f64>(is_small, ln(factors), constant(0.0))
}
