//! Random positions: one of several classes, an order, elements of a vector.

use super::elementary::ln;
use super::key::Key;
use super::numbers::{exponential_at, randint};
use super::philox::joined;
use super::places;
use crate::surface::attributed;
use crate::types::{Elt, Floating, Shape, Snoc};
use crate::{Acc, Array, Exp, IntoShape, ToExp, Vector, argmax, argsort, constant, iota, map, shape, zip_with};
use std::panic::Location;

/// For each innermost row of logarithms of weights, the position of one of them, with probabilities in proportion to the weights. In JAX,
/// `jax.random.categorical(key, logits)`. A weight of 0 has the logarithm -∞. An empty row is an error when the program runs.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{categorical, key};
///
/// let weights = Array::vector(vec![1.0, 0.0, 3.0]);
/// let draws = afun(|w: Acc<Vector<f64>>| categorical(key(7), replicate((1000, All), w.ln())));
/// let draws = run(&draws, &weights)?;
/// let count = |k: i64| draws.as_slice().iter().filter(|x| **x == k).count();
/// assert!(count(1) == 0 && (650..850).contains(&count(2)));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn categorical<Sh: Shape, T: Floating>(
    key: impl ToExp<Key>,
    logits: Acc<Array<Snoc<Sh>, T>>,
) -> Acc<Array<Sh, i64>> {
    let key = key.to_exp().unlift();
    attributed(("categorical", Location::caller()), || {
        // The first event of independent processes belongs to one of them with a probability in proportion to its rate. The logarithm of its
        // time is that of an exponential number minus that of the rate.
        let score = |i: Exp<i64>, logit: Exp<T>| logit - ln(exponential_at::<T>(key, i));
        argmax(zip_with(score, places(shape(logits)), logits))
    })
}

/// The numbers 0 to `n` - 1 in random order. In JAX, `jax.random.permutation(key, n)`; of the rows of an array, [`gather`](crate::gather) takes them.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{key, permutation};
///
/// // Three different elements.
/// let some = afun(|xs: Acc<Vector<f32>>| gather(take(3, permutation(key(7), xs.len())), xs));
/// # run(&some, &Array::vector(vec![1.0, 2.0, 3.0, 4.0]))?;
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn permutation(key: impl ToExp<Key>, n: impl ToExp<i64>) -> Acc<Vector<i64>> {
    let key = key.to_exp().unlift();
    attributed(("permutation", Location::caller()), || {
        let words = |i: Exp<i64>| {
            let [low, high, ..] = key.block(i, constant(0u32));
            joined(low, high)
        };
        argsort(map(words, iota(n)))
    })
}

/// Elements of a vector, each chosen with the same probability, any number of times. In JAX, `jax.random.choice(key, xs, shape)`. Different elements are
/// those at the first places of a [`permutation`]; [`categorical`] chooses by weights. A vector without elements is an error when the program runs.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{choice, key};
///
/// // The mean of a sample of the same size: the bootstrap.
/// let again = afun(|xs: Acc<Vector<f64>>| mean(choice(key(7), xs.len(), xs)));
/// # run(&again, &Array::vector(vec![1.0, 2.0]))?;
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn choice<S: IntoShape, T: Elt>(key: impl ToExp<Key>, shape: S, xs: Acc<Vector<T>>) -> Acc<Array<S::Sh, T>> {
    attributed(("choice", Location::caller()), || map(|i| xs.at(i), randint(key, shape, 0, xs.len())))
}
