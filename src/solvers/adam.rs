//! Descent along means of the gradient, for training.

use super::{Steps, next};
use crate::surface::attributed;
use crate::trees::{OfArrays, Parameters, tree};
use crate::types::{Arrays, Floating, Shape};
use crate::{Acc, Array, Exp, IntoAcc, cond, lit, the, unit, zip_with3};
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
            let none = tree(parameters).filled(0.0);
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
            let (steps, gradient) = (next(steps), tree(gradient));
            let mean = tree(mean) * self.beta1 + gradient * (1.0 - self.beta1);
            let squares = tree(squares) * self.beta2 + gradient * gradient * (1.0 - self.beta2);
            let moved =
                P::each(&Moved { adam: self, steps }, [parameters.into_acc(), mean.into_acc(), squares.into_acc()]);
            (moved.unlift(), (mean.unlift(), squares.unlift(), steps))
        })
    }
}

/// Parameters after a step, from those before it and the means.
struct Moved {
    adam: Adam,
    steps: Steps,
}

impl OfArrays<3> for Moved {
    fn of<Sh: Shape, T: Floating>(&self, [x, mean, squares]: [Acc<Array<Sh, T>>; 3]) -> Acc<Array<Sh, T>> {
        let Adam { rate, beta1, beta2, epsilon } = self.adam;
        // The means begin at 0. The other part is a difference of nearly equal numbers, which `f32` would not show.
        let steps = the(self.steps).cast::<f64>();
        let part = |stays: f64| unit((-lit::<f64>(stays).powf(steps) + 1.0).cast::<T>());
        let (of_mean, of_squares) = (part(beta1), part(beta2));
        let moved = |x: Exp<T>, m: Exp<T>, v: Exp<T>| {
            // The derivative of the root at 0 is infinite.
            let root = cond(v.gt(lit::<T>(0.0)), (v / the(of_squares)).sqrt(), lit::<T>(0.0));
            x - m / the(of_mean) / (root + lit::<T>(epsilon)) * lit::<T>(rate)
        };
        zip_with3(moved, x, mean, squares)
    }
}
