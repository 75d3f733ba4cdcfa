//! The logarithm of the sum of the exponentials of a vector; its gradient is known as softmax.

use crate::conversions::{number, vector};
use crate::module::{Failure, Module};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// log Σ exp xᵢ. The largest xᵢ is subtracted first, to avoid overflow. The result does not depend on what is subtracted, so this has no
/// derivative.
pub fn log_sum_exp(xs: Acc<Vector<f64>>) -> Acc<Scalar<f64>> {
    let largest = map(|x| x.detach(), maximum(xs));
    let shifted = zip_with(|x, largest| x - largest, xs, replicate_inner(xs.shape(), largest));
    let total = sum(map(|x| x.exp(), shifted));
    zip_with(|total, largest| total.ln() + largest, total, largest)
}

/// The value and the gradient of [`log_sum_exp`].
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    let primal = afun(log_sum_exp);
    let gradient = grad(&primal);
    Module::new(backend).function("primal", primal, argument, number)?.function("gradient", gradient, argument, vector)
}

/// The input that the eval sends.
#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
}

fn argument(input: Input) -> Result<Vector<f64>, Failure> {
    Ok(Array::vector(input.x))
}
