//! Descent along means of the gradient, for training.

use super::{S, Steps, next};
use crate::ast::ty::{Arr, ArraysRepr};
use crate::surface::attributed;
use crate::surface::derive_support::retype_acc;
use crate::types::{Arrays, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Floating, Shape};
use crate::{Acc, Array, Exp, IntoAcc, cond, fill, lit, shape, the, unit, zip_with, zip_with3};
use std::panic::Location;

/// Steps of descent by the method Adam (Kingma and Ba 2015), whose lengths follow the mean of the gradient and that of its squares. In optax, `optax.adam`.
///
/// The parameters are arrays of floating-point numbers, tuples and records of them. The state is the two means, of the same type, and the number of steps; it is an
/// ordinary part of a program, of the state of a loop, or of arguments and results.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::Adam;
///
/// let loss = afun(|w: Acc<Matrix<f64>>, b: Acc<Vector<f64>>| sum_all((w - 1.0).powi(2)) + sum((b + 2.0).powi(2)));
/// let adam = Adam { rate: 0.1, ..Adam::default() };
/// let train = afun(|w: Acc<Matrix<f64>>, b: Acc<Vector<f64>>| {
///     let step = |(parameters, state)| adam.step(parameters, call(grad(&loss), parameters), state);
///     aiterate(500, step, ((w, b), adam.start((w, b)))).0
/// });
/// let (w, b) = run(&train, (&Array::matrix(1, 2, vec![0.0; 2])?, &Array::vector(vec![0.0])))?;
/// assert!(w.as_slice().iter().all(|w| (w - 1.0).abs() < 1e-2) && (b.as_slice()[0] + 2.0).abs() < 1e-2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Adam {
    /// The length of a step for a gradient that does not change: the learning rate.
    pub rate: f64,
    /// How much of the mean of the gradient stays in a step.
    pub beta1: f64,
    /// How much of the mean of the squares stays in a step.
    pub beta2: f64,
    /// What is added to the root of the mean of the squares.
    pub epsilon: f64,
}

impl Default for Adam {
    fn default() -> Adam {
        Adam { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

/// The means of the gradient and of its squares, and the number of steps.
type Means<P> = (<P as Arrays>::Acc, <P as Arrays>::Acc, Steps);

impl Adam {
    /// The state before the first step.
    #[track_caller]
    pub fn start<P: Parameters>(self, parameters: impl IntoAcc<Arrays = P>) -> Means<P> {
        attributed(("Adam::start", Location::caller()), || {
            let none = P::no_means(parameters.into_acc());
            (none.unlift(), none.unlift(), unit(0i64))
        })
    }

    /// The parameters and the state after a step. A gradient of other shapes than the parameters is an error when the program runs.
    #[track_caller]
    pub fn step<P: Parameters>(
        self,
        parameters: impl IntoAcc<Arrays = P>,
        gradient: P::Acc,
        (mean, squares, steps): Means<P>,
    ) -> (P::Acc, Means<P>) {
        attributed(("Adam::step", Location::caller()), || {
            let steps = next(steps);
            let before = [parameters.into_acc(), gradient.into_acc(), mean.into_acc(), squares.into_acc()];
            let [parameters, mean, squares] = P::updated(&Update { adam: self, steps }, before).map(Acc::unlift);
            (parameters, (mean, squares, steps))
        })
    }
}

/// What [`Adam`] trains: arrays of `f32` or `f64` with up to six dimensions, tuples and records of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has parts that are no parameters",
    note = "parameters are arrays of `f32` or `f64`, tuples of up to eight of them, and records of arrays"
)]
pub trait Parameters: Arrays {
    /// The means before the first step.
    #[doc(hidden)]
    fn no_means(x: Acc<Self>) -> Acc<Self>;
    /// Parameters and means after a step, from parameters, the gradient, and means.
    #[doc(hidden)]
    fn updated(update: &Update, before: [Acc<Self>; 4]) -> [Acc<Self>; 3];
}

impl<P: Arrays<Repr: Leaves>> Parameters for P {
    fn no_means(x: Acc<P>) -> Acc<P> {
        retype_acc(P::Repr::no_means(retype_acc(x)))
    }
    fn updated(update: &Update, before: [Acc<P>; 4]) -> [Acc<P>; 3] {
        P::Repr::updated(update, before.map(retype_acc)).map(retype_acc)
    }
}

/// A step of one array.
pub struct Update {
    adam: Adam,
    steps: Steps,
}

impl Update {
    fn of<Sh: Shape, T: Floating>(
        &self,
        [x, gradient, mean, squares]: [Acc<Array<Sh, T>>; 4],
    ) -> [Acc<Array<Sh, T>>; 3] {
        let Adam { rate, beta1, beta2, epsilon } = self.adam;
        let mixed = |stays: f64| move |m: Exp<T>, g: Exp<T>| m * lit::<T>(stays) + g * lit::<T>(1.0 - stays);
        let mean = zip_with(mixed(beta1), mean, gradient);
        let squares = zip_with(|v: Exp<T>, g: Exp<T>| mixed(beta2)(v, g * g), squares, gradient);
        // The means begin at 0. The other part is a difference of nearly equal numbers, which `f32` would not show.
        let steps = the(self.steps).cast::<f64>();
        let part = |stays: f64| -> S<T> { unit((-lit::<f64>(stays).powf(steps) + 1.0).cast::<T>()) };
        let (of_mean, of_squares) = (part(beta1), part(beta2));
        let moved = |x: Exp<T>, m: Exp<T>, v: Exp<T>| {
            // The derivative of the root at 0 is infinite.
            let root = cond(v.gt(lit::<T>(0.0)), (v / the(of_squares)).sqrt(), lit::<T>(0.0));
            x - m / the(of_mean) / (root + lit::<T>(epsilon)) * lit::<T>(rate)
        };
        [zip_with3(moved, x, mean, squares), mean, squares]
    }
}

/// NOTE [Parameters by their representation]: a record of arrays is represented as pairs of arrays, as a tuple is. So a function of all arrays in
/// a value is one of pairs and of arrays of each rank, and records need no code of their own.
pub trait Leaves: ArraysRepr {
    /// The arrays or pairs that are represented like this.
    type Arrays: Arrays<Repr = Self>;
    fn no_means(x: Acc<Self::Arrays>) -> Acc<Self::Arrays>;
    fn updated(update: &Update, before: [Acc<Self::Arrays>; 4]) -> [Acc<Self::Arrays>; 3];
}

impl<A: Leaves, B: Leaves> Leaves for (A, B) {
    type Arrays = (A::Arrays, B::Arrays);
    fn no_means(x: Acc<Self::Arrays>) -> Acc<Self::Arrays> {
        let (a, b) = x.unlift();
        (A::no_means(a.into_acc()), B::no_means(b.into_acc())).into_acc()
    }
    fn updated(update: &Update, before: [Acc<Self::Arrays>; 4]) -> [Acc<Self::Arrays>; 3] {
        let before = before.map(Acc::unlift);
        let [x, m, v] = A::updated(update, before.map(|(a, _)| a.into_acc()));
        let [y, n, w] = B::updated(update, before.map(|(_, b)| b.into_acc()));
        [(x, y), (m, n), (v, w)].map(IntoAcc::into_acc)
    }
}

macro_rules! arrays {
    ($($t:ty: $($sh:ident $extents:ty),*;)*) => { $($(
        impl Leaves for Arr<$extents, $t> {
            type Arrays = Array<$sh, $t>;
            fn no_means(x: Acc<Self::Arrays>) -> Acc<Self::Arrays> {
                fill(shape(x), lit::<$t>(0.0))
            }
            fn updated(update: &Update, before: [Acc<Self::Arrays>; 4]) -> [Acc<Self::Arrays>; 3] {
                update.of(before)
            }
        }
    )*)* };
    ($($t:ty)*) => { arrays! { $(
        $t: Dim0 (), Dim1 One, Dim2 Two, Dim3 Three, Dim4 (Three, i64), Dim5 ((Three, i64), i64),
            Dim6 (((Three, i64), i64), i64);
    )* } };
}
type One = ((), i64);
type Two = (One, i64);
type Three = (Two, i64);
arrays!(f32 f64);
