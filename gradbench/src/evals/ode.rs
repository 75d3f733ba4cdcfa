//! The end of a chain of differential equations, by the method of Runge and Kutta, and the gradient of its last number.

use crate::conversions::vector;
use crate::module::{Failure, Module, ends};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// The time from 0 on for which the equations are solved.
const TIME: f64 = 2.0;

/// The solution of y₀' = x₀, yᵢ' = xᵢ yᵢ₋₁ that begins with 0, after this number of steps of the classical method.
pub fn solution(xs: Acc<Vector<f64>>, steps: Acc<Scalar<i64>>) -> Acc<Vector<f64>> {
    let step = TIME / the(steps).cast::<f64>();
    let slope = |ys: Acc<Vector<f64>>| imap(|i, x| x * cond(i.gt(0), ys.at(i - 1), lit(1.0)), xs);
    let advance = |ys, time: Exp<f64>, slope| zip_with(|y, slope| y + time * slope, ys, slope);
    let next = |ys| {
        let first = slope(ys);
        let second = slope(advance(ys, step / 2.0, first));
        let third = slope(advance(ys, step / 2.0, second));
        let fourth = slope(advance(ys, step, third));
        let inner = zip_with(|second, third| second + third, second, third);
        advance(ys, step / 6.0, zip_with3(|first, inner, fourth| first + 2.0 * inner + fourth, first, inner, fourth))
    };
    aiterate(the(steps), next, fill(xs.shape(), 0.0))
}

/// The last number of the solution.
pub fn last(xs: Acc<Vector<f64>>, steps: Acc<Scalar<i64>>) -> Acc<Scalar<f64>> {
    unit(solution(xs, steps).at(xs.shape() - 1))
}

/// The solution, and the gradient of its last number.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    let gradient = grad(afun(last).by(|(xs, _)| xs));
    Module::new(backend)
        .function("primal", afun(solution), arguments, vector)?
        .function("gradient", gradient, arguments, vector)
}

/// The input that the eval sends.
#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    s: u32,
}

fn arguments(input: Input) -> Result<(Vector<f64>, Scalar<i64>), Failure> {
    let Input { x, s } = input;
    if x.is_empty() || s == 0 {
        return Err(Failure::Input("`x` must have a number, and `s` must be at least 1".to_string()));
    }
    // The message contains the number of steps. A short step takes as long as one of a hundred numbers.
    ends(40.0 * (x.len() + 100) as f64 * f64::from(s))?;
    Ok((Array::vector(x), Array::scalar(s.into())))
}
