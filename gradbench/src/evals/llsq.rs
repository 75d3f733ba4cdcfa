//! Least squares: how well a polynomial fits the sign function on [-1, 1].

use super::{Failure, Module, number, vector};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// ½ Σᵢ (sign(tᵢ) - Σⱼ xⱼ tᵢʲ)² for n points tᵢ from -1 to 1, where the xⱼ are the coefficients of a polynomial.
pub fn least_squares(xs: Acc<Vector<f64>>, n: Acc<Scalar<i64>>) -> Acc<Scalar<f64>> {
    let (n, m) = (the(n), xs.shape());
    let point = |i: Exp<i64>| i.cast::<f64>() * 2.0 / (n - 1).cast::<f64>() - 1.0;
    let powers = generate((n, m), |(i, j)| point(i).powf(j.cast::<f64>()));
    let residuals = imap(|i, y| point(i).signum() - y, matvec(powers, xs));
    map(|total| total / 2.0, sum(map(|r| r * r, residuals)))
}

/// The value of [`least_squares`], and the gradient by the coefficients.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    let primal = afun(least_squares);
    let gradient = grad(&primal);
    Module::new(backend).function("primal", primal, arguments, number)?.function(
        "gradient",
        gradient,
        arguments,
        |(by_x, _)| vector(by_x),
    )
}

/// What the eval sends.
#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    n: u32,
}

fn arguments(input: Input) -> Result<(Vector<f64>, Scalar<i64>), Failure> {
    Ok((Array::vector(input.x), Array::scalar(input.n.into())))
}
