//! Least squares: the distance of a polynomial from the sign function on [-1, 1].

use crate::conversions::{number, vector};
use crate::module::{Failure, Module, fits};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// The coefficients are taken in rows of so many.
const ROW: i64 = 16;

/// ½ Σᵢ (sign(tᵢ) - Σⱼ xⱼ tᵢʲ)² for n points tᵢ from -1 to 1, where the xⱼ are the coefficients of a polynomial. With the coefficients
/// in rows of 16, its values are Σₖ tᵢ¹⁶ᵏ (Σₗ xₖₗ tᵢˡ): a product of matrices, and n sums of few terms.
pub fn least_squares(xs: Acc<Vector<f64>>, n: Acc<Scalar<i64>>) -> Acc<Scalar<f64>> {
    let (n, m) = (the(n), xs.shape());
    let points = generate(n, |i| i.cast::<f64>() * 2.0 / (n - 1).cast::<f64>() - 1.0);
    let rows = (m + ROW - 1) / ROW;
    let coefficients = generate((rows, ROW), |(k, l)| {
        let j = k * ROW + l;
        cond(j.lt(m), xs.at(j), lit(0.0))
    });
    let parts = matmul(powers(points, ROW.to_exp(), 1), transpose(coefficients));
    let values = sum(powers(points, rows, ROW) * parts);
    let residuals = zip_with(|t, y| t.signum() - y, points, values);
    map(|total| total / 2.0, sum(map(|r| r * r, residuals)))
}

/// For each point t, the powers of tˢ from 0 on, where s is `step`. For a negative t, `powf` is slow: its size and its sign are faster.
fn powers(points: Acc<Vector<f64>>, number: Exp<i64>, step: i64) -> Acc<Matrix<f64>> {
    let logarithms = map(|t| t.abs().ln(), points);
    generate((points.shape(), number), |(i, k)| {
        let exponent = k * step;
        let size = cond(exponent.eq(0), lit(1.0), (logarithms.at(i) * exponent.cast::<f64>()).exp());
        cond((exponent % 2).eq(1), points.at(i).signum() * size, size)
    })
}

/// [`least_squares`] and its gradient by the coefficients.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    let primal = afun(least_squares);
    let gradient = grad(primal.by(|(xs, _)| xs));
    Module::new(backend)
        .function("primal", primal, arguments, number)?
        .function("gradient", gradient, arguments, vector)
}

/// The input that the eval sends.
#[derive(Deserialize)]
struct Input {
    x: Vec<f64>,
    n: u32,
}

fn arguments(input: Input) -> Result<(Vector<f64>, Scalar<i64>), Failure> {
    // The message contains the number of points. Each takes a few numbers, and the gradient stores its powers and the values of its parts.
    let stored = ROW as u64 + input.x.len().div_ceil(ROW as usize) as u64;
    fits((32 + 8 * stored) * u64::from(input.n))?;
    Ok((Array::vector(input.x), Array::scalar(input.n.into())))
}
