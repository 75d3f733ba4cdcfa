//! Keys: what determines random numbers.

use super::philox::{halves, philox};
use super::places;
use crate::surface::attributed;
use crate::{Acc, Array, Elt, Exp, IntoShape, ToExp, constant, map};
use std::array::from_fn;
use std::panic::Location;

/// What determines a stream of random numbers: 64 bits. It is an element, so there are arrays of keys, loops over keys, and programs that take one as
/// their argument. In programs, its companion `KeyExp` stands for it.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{Key, normal};
///
/// let program = afun(|key: Acc<Scalar<Key>>| normal::<_, f64>(the(key), 3));
/// let compiled = compile(&program)?;
/// let [x, y] = [1, 2].map(|seed| compiled.run(&Array::scalar(Key::new(seed))).unwrap());
/// assert_ne!(x.to_vec(), y.to_vec());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Elt)]
pub struct Key {
    low: u32,
    high: u32,
}

impl Key {
    /// The key of a seed, on the host: the same as that of [`key`] in a program.
    pub fn new(seed: u64) -> Key {
        Key { low: seed as u32, high: (seed >> 32) as u32 }
    }
}

/// What the words of a counter are for, so that the numbers of a key have nothing in common with the keys that are made of it.
#[derive(Clone, Copy)]
enum Purpose {
    Numbers,
    Split,
    FoldIn,
}

impl KeyExp {
    /// The block of words number `draw` for the element `i`.
    pub(super) fn block(self, i: Exp<i64>, draw: Exp<u32>) -> [Exp<u32>; 4] {
        self.words(i, draw, Purpose::Numbers)
    }

    fn words(self, i: Exp<i64>, draw: Exp<u32>, purpose: Purpose) -> [Exp<u32>; 4] {
        let [low, high] = halves(i.cast::<u64>());
        philox([self.low, self.high], [low, high, draw, constant(purpose as u32)])
    }

    fn derived(self, i: Exp<i64>, purpose: Purpose) -> KeyExp {
        let [low, high, ..] = self.words(i, constant(0u32), purpose);
        KeyExp { low, high }
    }
}

/// The key of a seed. In JAX, `jax.random.key(seed)`.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{key, uniform};
///
/// let xs = run(&afun(|| uniform::<_, f32>(key(7), (2, 3))), &())?;
/// assert!(xs.as_slice().iter().all(|x| (0.0..1.0).contains(x)));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn key(seed: impl ToExp<u64>) -> KeyExp {
    let [low, high] = halves(seed.to_exp());
    KeyExp { low, high }
}

/// Several keys in place of one, as many as the pattern on the left takes. In JAX, `jax.random.split(key, n)`; there is an array of them in [`keys`].
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{key, normal, split, uniform};
///
/// let program = afun(|| {
///     let [for_weights, for_mask] = split(key(7));
///     (normal::<_, f32>(for_weights, (2, 2)), uniform::<_, f32>(for_mask, 2).lt(0.5))
/// });
/// # run(&program, &())?;
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn split<const N: usize>(key: impl ToExp<Key>) -> [KeyExp; N] {
    let key = key.to_exp().unlift();
    attributed(("split", Location::caller()), || from_fn(|i| key.derived(constant(i as i64), Purpose::Split)))
}

/// An array of keys in place of one: one for each lane of a [`vmap`](crate::vmap), or each step of a loop. The first ones are those of [`split`].
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{Key, key, keys, normal};
///
/// let rows = afun(|| vmap(|key: Acc<Scalar<Key>>| cumsum(normal::<_, f64>(the(key), 5)), keys(key(7), 100)));
/// assert_eq!(run(&rows, &())?.shape().as_slice(), [100, 5]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn keys<S: IntoShape>(key: impl ToExp<Key>, shape: S) -> Acc<Array<S::Sh, Key>> {
    let key = key.to_exp().unlift();
    attributed(("keys", Location::caller()), || map(|i| key.derived(i, Purpose::Split), places(shape.into_shape())))
}

/// The key that belongs to a key and a number, such as the number of a step. In JAX, `jax.random.fold_in(key, n)`.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::{fold_in, key, normal};
///
/// let walk = afun(|start: Acc<Vector<f64>>| {
///     aiterate_indexed(100, |step, x: Acc<Vector<f64>>| x + normal(fold_in(key(7), step), x.shape()), start)
/// });
/// # run(&walk, &Array::vector(vec![0.0; 4]))?;
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn fold_in(key: impl ToExp<Key>, n: impl ToExp<i64>) -> KeyExp {
    let key = key.to_exp().unlift();
    attributed(("fold_in", Location::caller()), || key.derived(n.to_exp(), Purpose::FoldIn))
}
