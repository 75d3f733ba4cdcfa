//! Constrained values as functions of unconstrained ones, with the logarithm of their Jacobian determinant.

use super::variates::{Parameter, Variate, with2};
use crate::repr::Agreement;
use crate::surface::{agree, attributed, index_head};
use crate::types::{Floating, Shape, Snoc};
use crate::{
    Acc, Array, Exp, IntoShape, Matrix, Scalar, ToExp, Vector, cond, cumsum, fill, generate, imap, lit, map, scanl,
    shape, sum, sum_all, zip_with_min,
};
use std::f64::consts::LN_2;
use std::panic::Location;

type Vectors<Sh, T> = Acc<Array<Snoc<Sh>, T>>;
type Numbers<Sh, T> = Acc<Array<Sh, T>>;

/// Positive numbers e^x, and for each the logarithm x of the derivative. In Stan, `<lower=0>`; for another bound, add it.
///
/// ```
/// use accel::distributions::{exponential_lpdf, positive};
/// use accel::prelude::*;
///
/// // The log density of an unconstrained number of which the scale is a function.
/// let density = afun(|x: Acc<Scalar<f64>>| {
///     let (scale, log_jacobian) = positive(x);
///     exponential_lpdf(scale, 1.0) + log_jacobian
/// });
/// assert_eq!(run(&density, &Array::scalar(0.0))?.item(), -1.0);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn positive<T: Floating, X: Variate<Element = T>>(x: X) -> (X::With<T>, X::With<T>) {
    attributed(("positive", Location::caller()), || (x.each(|x: Exp<T>| x.exp()), x.elements()))
}

/// Numbers between two bounds, and for each the logarithm of the derivative. In Stan, `<lower=low, upper=high>`.
///
/// ```
/// use accel::distributions::bounded;
/// use accel::prelude::*;
///
/// let probability = afun(|x: Acc<Vector<f64>>| bounded(x, 0.0, 1.0));
/// let (p, log_jacobian) = run(&probability, &Array::vector(vec![0.0]))?;
/// assert_eq!((p.to_vec(), log_jacobian.to_vec()), (vec![0.5], vec![0.25f64.ln()]));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn bounded<T: Floating, X: Variate<Element = T>>(
    x: X,
    low: impl Parameter<X, T>,
    high: impl Parameter<X, T>,
) -> (X::With<T>, X::With<T>) {
    attributed(("bounded", Location::caller()), || {
        let value = |x: Exp<T>, [low, high]: [Exp<T>; 2]| low + (high - low) * x.sigmoid();
        let log = |x: Exp<T>, [low, high]: [Exp<T>; 2]| (high - low).ln() + x.log_sigmoid() + (-x).log_sigmoid();
        (with2(value, x, low, high), with2(log, x, low, high))
    })
}

/// Rows of n + 1 positive numbers with the sum 1, of rows of n numbers, and for each row the logarithm of the determinant: pieces are broken from a stick of the
/// length 1, one after the other. Zeros give equal pieces. In Stan, `simplex`.
///
/// ```
/// use accel::distributions::simplex;
/// use accel::prelude::*;
///
/// let (theta, _) = run(&afun(|x: Acc<Vector<f64>>| simplex(x)), &Array::vector(vec![0.0, 0.0]))?;
/// assert!(theta.as_slice().iter().all(|x| (x - 1.0 / 3.0).abs() < 1e-15));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn simplex<Sh: Shape, T: Floating>(x: Vectors<Sh, T>) -> (Vectors<Sh, T>, Numbers<Sh, T>) {
    attributed(("simplex", Location::caller()), || {
        let n = index_head(shape(x));
        // The logarithmic odds of the piece of what is left.
        let odds =
            imap(|ix: <Snoc<Sh> as Shape>::Index, x: Exp<T>| x - (n - index_head(ix.into_shape())).cast::<T>().ln(), x);
        let log_left = scanl(|x: Exp<T>, y: Exp<T>| x + y, lit::<T>(0.0), map(|z: Exp<T>| (-z).log_sigmoid(), odds));
        let value = generate(shape(log_left), |ix| {
            let ix: Exp<Snoc<Sh>> = ix.into_shape();
            let log_left = log_left.at(ix);
            cond(index_head(ix).lt(n), log_left + odds.at(ix).log_sigmoid(), log_left).exp()
        });
        let log = |z: Exp<T>, log_left: Exp<T>| z.log_sigmoid() + (-z).log_sigmoid() + log_left;
        (value, sum(zip_with_min(log, odds, log_left)))
    })
}

/// Rows of increasing numbers: the first one is that of `x`, and each other one is more than the one before by the exponential of that of `x`. For each row, the
/// logarithm of the determinant is the sum of all numbers but the first one. In Stan, `ordered`.
///
/// ```
/// use accel::distributions::ordered;
/// use accel::prelude::*;
///
/// let (y, log_jacobian) = run(&afun(|x: Acc<Vector<f64>>| ordered(x)), &Array::vector(vec![-2.0, 0.0, 0.0]))?;
/// assert_eq!((y.to_vec(), log_jacobian.item()), (vec![-2.0, -1.0, 0.0], 0.0));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn ordered<Sh: Shape, T: Floating>(x: Vectors<Sh, T>) -> (Vectors<Sh, T>, Numbers<Sh, T>) {
    attributed(("ordered", Location::caller()), || {
        let first_or = |x: Vectors<Sh, T>, first: fn(Exp<T>) -> Exp<T>, other: fn(Exp<T>) -> Exp<T>| {
            let is_first = |ix: <Snoc<Sh> as Shape>::Index| index_head(ix.into_shape()).eq(0);
            imap(|ix, x: Exp<T>| cond(is_first(ix), first(x), other(x)), x)
        };
        let value = cumsum(first_or(x, |x| x, |x| x.exp()));
        (value, sum(first_or(x, |_| lit(0.0), |x| x)))
    })
}

/// The Cholesky factor of a correlation matrix of `n` rows, of n (n - 1) / 2 numbers, and the logarithm of the determinant: `x` has the elements below the
/// diagonal, row by row; their hyperbolic tangents are partial correlations. Zeros give the unit matrix. In Stan, `cholesky_factor_corr`. Another
/// number of elements is an error when the program runs.
///
/// ```
/// use accel::distributions::corr_cholesky;
/// use accel::prelude::*;
///
/// let (l, _) = run(&afun(|x: Acc<Vector<f64>>| corr_cholesky(2, x)), &Array::vector(vec![0.6f64.atanh()]))?;
/// assert!(l.as_slice().iter().zip([1.0, 0.0, 0.6, 0.8]).all(|(x, y)| (x - y).abs() < 1e-15));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn corr_cholesky<T: Floating>(n: impl ToExp<i64>, x: Acc<Vector<T>>) -> (Acc<Matrix<T>>, Acc<Scalar<T>>) {
    let n = n.to_exp();
    let site = ("corr_cholesky", Location::caller());
    attributed(site, || {
        let zero = || lit::<T>(0.0);
        let x = agree(site, Agreement::All, fill(n * (n - 1) / 2, zero()), x);
        let below = |i: Exp<i64>, k: Exp<i64>| x.at(i * (i - 1) / 2 + k);
        // The logarithm of the root of what a square leaves of 1: that of the hyperbolic secant.
        let log_sech = |x: Exp<T>| lit::<T>(LN_2) - x.abs() - (x.abs() * lit::<T>(-2.0)).exp().ln_1p();
        let logs = generate((n, n), |(i, k): (Exp<i64>, Exp<i64>)| cond(k.lt(i), log_sech(below(i, k)), zero()));
        let log_left = scanl(|x: Exp<T>, y: Exp<T>| x + y, zero(), logs);
        let value = generate((n, n), |(i, k): (Exp<i64>, Exp<i64>)| {
            let left = || log_left.at((i, k)).exp();
            cond(k.lt(i), below(i, k).tanh() * left(), cond(k.eq(i), left(), zero()))
        });
        let log = generate((n, n), |(i, k): (Exp<i64>, Exp<i64>)| {
            cond(k.lt(i), logs.at((i, k)) * lit::<T>(2.0) + log_left.at((i, k)), zero())
        });
        (value, sum_all(log))
    })
}
