//! Random numbers, as functions of keys.
//!
//! A program has no hidden state, so nothing changes when it draws a number: the same key gives the same numbers. Who needs other numbers takes another key:
//! [`split`] makes several of one, [`keys`] an array of them, and [`fold_in`] one for each step of a loop. A key is used once, either for numbers or for other
//! keys.
//!
//! ```
//! use accel::prelude::*;
//! use accel::random::{key, normal, split};
//!
//! // Two layers of weights.
//! let weights = afun(|seed: Acc<Scalar<u64>>| {
//!     let [first, second] = split(key(the(seed)));
//!     (normal::<_, f32>(first, (4, 3)) * 0.5, normal::<_, f32>(second, 4) * 0.5)
//! });
//! let (w, _) = run(&weights, &Array::scalar(7))?;
//! assert_eq!(w.shape().as_slice(), [4, 3]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Element number i of an array, counted row by row, depends only on the key and on i: it has no matter in which order elements are computed, on how many threads,
//! in a loop, or under [`vmap`](crate::vmap); the array is part of the loop that uses it, and is never stored for it. The words of the generator
//! ([`philox`]), and what follows from them by arithmetic, have the same bits on every backend.
//!
//! Numbers have derivatives by the parameters of their distribution. Those of a location and a scale follow from
//! `mu + sigma * normal(key, shape)`; [`gamma`], [`beta`] and [`dirichlet`] have those of Figurnov, Mohamed and Mnih, *Implicit reparameterization gradients*
//! (2018). Integers and booleans have none.

mod choices;
mod elementary;
mod gamma;
mod key;
mod numbers;
mod philox;
mod poisson;

pub use choices::{categorical, choice, permutation};
pub use gamma::{beta, dirichlet, gamma};
pub use key::{Key, KeyExp, fold_in, key, keys, split};
pub use numbers::{bernoulli, exponential, multivariate_normal, normal, randint, uniform};
pub use philox::philox;
pub use poisson::poisson;

use crate::surface::size_of;
use crate::types::Shape;
use crate::{Acc, Array, Exp, iota, reshape};

/// The array of the numbers of its own elements, counted row by row.
fn places<Sh: Shape>(shape: Exp<Sh>) -> Acc<Array<Sh, i64>> {
    reshape(shape, iota(size_of(shape)))
}
