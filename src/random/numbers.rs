//! Uniform, normal and exponential numbers.

use super::elementary::{is_single, ln, sin_of_right_angles};
use super::key::{Key, KeyExp};
use super::philox::{halves, joined};
use super::places;
use crate::linalg;
use crate::surface::attributed;
use crate::types::{Floating, Shape, Snoc};
use crate::{
    Acc, Array, Exp, IntoShape, Matrix, ToExp, cond, constant, lit, map, matmul, reshape, shape, transpose, zip_with,
};
use std::panic::Location;

impl KeyExp {
    /// Number `i` of the numbers that [`uniform`] makes of this key, for loops in scalar code.
    #[track_caller]
    pub fn uniform<T: Floating>(self, i: impl ToExp<i64>) -> Exp<T> {
        attributed(("uniform", Location::caller()), || {
            let [low, high, ..] = self.block(i.to_exp(), constant(0u32));
            unit_interval(low, high)
        })
    }

    /// Number `i` of the numbers that [`normal`] makes of this key, for loops in scalar code.
    ///
    /// ```
    /// use accel::prelude::*;
    /// use accel::random::key;
    ///
    /// // The mean of a million numbers without a vector of them.
    /// let mean = afun(|| unit(iterate(1_000_000, |(i, s): (Exp<i64>, Exp<f64>)| (i + 1, s + key(7).normal(i)), (0i64, 0.0)).1 / 1e6));
    /// assert!(run(&mean, &())?.item().abs() < 0.004);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn normal<T: Floating>(self, i: impl ToExp<i64>) -> Exp<T> {
        attributed(("normal", Location::caller()), || normal_of(self.block(i.to_exp(), constant(0u32))))
    }
}

/// A number of the interval from 0 to 1, which is never 1: the first bits of a word are those of its fraction.
pub(super) fn unit_interval<T: Floating>(low: Exp<u32>, high: Exp<u32>) -> Exp<T> {
    if is_single::<T>() {
        (Exp::<f32>::from_bits((high >> 9) | 1f32.to_bits()) - 1.0).cast()
    } else {
        (Exp::<f64>::from_bits((joined(low, high) >> 12) | 1f64.to_bits()) - 1.0).cast()
    }
}

/// A number of the interval from 0 to 1, which is never 0.
pub(super) fn positive_part<T: Floating>(low: Exp<u32>, high: Exp<u32>) -> Exp<T> {
    if is_single::<T>() {
        // All bits of the word, for the sake of the numbers near 0.
        (((high >> 1).cast::<i32>().cast::<f32>() + 0.5) * (0.5f32).powi(31)).cast()
    } else {
        lit::<T>(1.0) - unit_interval::<T>(low, high)
    }
}

/// A normal number from a block, by the transformation of Box and Muller (1958): a radius and the sine of an angle. The sine of an angle of the right
/// half has the same distribution as that of any angle.
pub(super) fn normal_of<T: Floating>([a, b, c, d]: [Exp<u32>; 4]) -> Exp<T> {
    let radius = (ln(positive_part::<T>(a, b)) * lit::<T>(-2.0)).sqrt();
    let v = unit_interval::<T>(c, d);
    radius * sin_of_right_angles(v + v - lit::<T>(1.0))
}

/// An array of numbers that are functions of their places.
fn numbers<S: IntoShape, T: Floating>(
    key: impl ToExp<Key>,
    shape: S,
    f: impl Fn(KeyExp, Exp<i64>) -> Exp<T>,
) -> Acc<Array<S::Sh, T>> {
    let key = key.to_exp().unlift();
    map(|i| f(key, i), places(shape.into_shape()))
}

/// Numbers from 0 to 1, which are never 1. In JAX, `jax.random.uniform(key, shape)`; from a to b, they are `a + (b - a) * uniform(..)`.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{key, uniform};
///
/// let mean = run(&afun(|| mean_all(uniform::<_, f64>(key(7), (100, 100)))), &())?;
/// assert!((mean.item() - 0.5).abs() < 0.01);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn uniform<S: IntoShape, T: Floating>(key: impl ToExp<Key>, shape: S) -> Acc<Array<S::Sh, T>> {
    attributed(("uniform", Location::caller()), || numbers(key, shape, |key, i| key.uniform(i)))
}

/// Numbers of the standard normal distribution. In JAX, `jax.random.normal(key, shape)`; with another mean and another deviation, they are
/// `mu + sigma * normal(..)`, and have derivatives by both.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{key, normal};
///
/// let loss = afun(|mu: Acc<Scalar<f64>>, sigma: Acc<Scalar<f64>>| mean((normal(key(7), 10_000) * sigma + mu).powi(2)));
/// let (by_mu, by_sigma) = run(grad(&loss), (&Array::scalar(1.0), &Array::scalar(2.0)))?;
/// assert!((by_mu.item() - 2.0).abs() < 0.1 && (by_sigma.item() - 4.0).abs() < 0.2);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn normal<S: IntoShape, T: Floating>(key: impl ToExp<Key>, shape: S) -> Acc<Array<S::Sh, T>> {
    attributed(("normal", Location::caller()), || numbers(key, shape, |key, i| key.normal(i)))
}

/// Numbers of the exponential distribution with mean 1. In JAX, `jax.random.exponential(key, shape)`.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{exponential, key};
///
/// let mean = run(&afun(|| mean(exponential::<_, f64>(key(7), 10_000))), &())?;
/// assert!((mean.item() - 1.0).abs() < 0.05);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn exponential<S: IntoShape, T: Floating>(key: impl ToExp<Key>, shape: S) -> Acc<Array<S::Sh, T>> {
    attributed(("exponential", Location::caller()), || numbers(key, shape, exponential_at))
}

pub(super) fn exponential_at<T: Floating>(key: KeyExp, i: Exp<i64>) -> Exp<T> {
    let [low, high, ..] = key.block(i, constant(0u32));
    -ln(positive_part::<T>(low, high))
}

/// For each probability, whether something with this probability happens. In JAX, `jax.random.bernoulli(key, p)`.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{bernoulli, key};
///
/// let dropout = afun(|x: Acc<Vector<f32>>| where_(bernoulli(key(7), fill(x.shape(), 0.9f32)), x / 0.9, 0.0));
/// # run(&dropout, &Array::vector(vec![1.0; 8]))?;
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn bernoulli<Sh: Shape, T: Floating>(key: impl ToExp<Key>, p: Acc<Array<Sh, T>>) -> Acc<Array<Sh, bool>> {
    let key = key.to_exp().unlift();
    attributed(("bernoulli", Location::caller()), || {
        zip_with(|i: Exp<i64>, p: Exp<T>| key.uniform::<T>(i).lt(p), places(shape(p)), p)
    })
}

/// Integers from `low` on and below `high`, as many as the shape says. In JAX, `jax.random.randint(key, shape, low, high)`. Without integers between
/// them, all are `low`.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{key, randint};
///
/// let throws = run(&afun(|| randint(key(7), 1000, 1, 7)), &())?;
/// assert!((1..7).all(|face| throws.as_slice().iter().filter(|x| **x == face).count() > 120));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn randint<S: IntoShape>(
    key: impl ToExp<Key>,
    shape: S,
    low: impl ToExp<i64>,
    high: impl ToExp<i64>,
) -> Acc<Array<S::Sh, i64>> {
    let (key, low, high) = (key.to_exp().unlift(), low.to_exp(), high.to_exp());
    attributed(("randint", Location::caller()), || {
        let count = cond::<i64>(high.gt(low), high - low, constant(0i64)).cast::<u64>();
        map(|i| low + below(key, i, count).cast::<i64>(), places(shape.into_shape()))
    })
}

/// An integer from 0 on and below `count`: the integer part of the product with a fraction of 64 bits. No integer is preferred by more than
/// `count` / 2⁶⁴.
pub(super) fn below(key: KeyExp, i: Exp<i64>, count: Exp<u64>) -> Exp<u64> {
    let [low, high, ..] = key.block(i, constant(0u32));
    let product = |x: Exp<u32>, y: Exp<u32>| x.cast::<u64>() * y.cast::<u64>();
    let [n_low, n_high] = halves(count);
    let [_, carried] = halves(product(low, n_low));
    let [middle, carried] = halves(product(high, n_low) + carried.cast::<u64>());
    let [_, carried_too] = halves(product(low, n_high) + middle.cast::<u64>());
    product(high, n_high) + carried.cast::<u64>() + carried_too.cast::<u64>()
}

/// Vectors of the normal distribution with a covariance matrix, one for each innermost row of means: `mean + L z` with the Cholesky factor L. In JAX,
/// `jax.random.multivariate_normal(key, mean, covariance)`. It has derivatives by both. The covariance has as many rows and columns as a mean has numbers,
/// otherwise the run is an error; where it is not positive definite, the result is NaN.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{key, multivariate_normal};
///
/// // A thousand points.
/// let points = afun(|covariance: Acc<Matrix<f64>>| multivariate_normal(key(7), fill((1000, 2), 0.0), covariance));
/// let points = run(&points, &Array::matrix(2, 2, vec![1.0, 0.9, 0.9, 1.0])?)?;
/// let products: f64 = points.as_slice().chunks(2).map(|p| p[0] * p[1]).sum();
/// assert!((products / 1000.0 - 0.9).abs() < 0.2);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn multivariate_normal<Sh: Shape, T: Floating>(
    key: impl ToExp<Key>,
    mean: Acc<Array<Snoc<Sh>, T>>,
    covariance: Acc<Matrix<T>>,
) -> Acc<Array<Snoc<Sh>, T>> {
    attributed(("multivariate_normal", Location::caller()), || {
        let n = crate::surface::index_head(shape(mean));
        let rows = crate::surface::size_of(crate::surface::index_tail(shape(mean)));
        let z = normal::<_, T>(key, (rows, n));
        let moved = matmul(z, transpose(linalg::cholesky(covariance)));
        mean + reshape(shape(mean), moved)
    })
}
