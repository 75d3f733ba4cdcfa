//! Least squares: the distance of a polynomial from the sign function on [-1, 1].

use crate::conversions::{number, vector};
use crate::module::{Failure, Module, fits};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// ½ Σᵢ (sign(tᵢ) - Σⱼ xⱼ tᵢʲ)² for n points tᵢ from -1 to 1, where the xⱼ are the coefficients of a polynomial.
pub fn least_squares(xs: Acc<Vector<f64>>, n: Acc<Scalar<i64>>) -> Acc<Scalar<f64>> {
    let (n, m) = (the(n), xs.shape());
    let points = generate(n, |i| i.cast::<f64>() * 2.0 / (n - 1).cast::<f64>() - 1.0);
    let logarithms = map(|t| t.abs().ln(), points);
    let powers = generate((points.shape(), m), |(i, j)| power(points.at(i).signum(), logarithms.at(i), j));
    let residuals = zip_with(|t, y| t.signum() - y, points, matvec(powers, xs));
    map(|total| total / 2.0, sum(map(|r| r * r, residuals)))
}

/// tʲ for a t with this sign and logarithm. It is the result of `powf` for an exponent that is not negative, but `powf`
/// is slow if t is negative.
fn power(sign: Exp<f64>, logarithm: Exp<f64>, j: Exp<i64>) -> Exp<f64> {
    let size = cond(j.eq(0), lit(1.0), (logarithm * j.cast::<f64>()).exp());
    cond((j % 2).eq(1), sign * size, size)
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
    // The message contains the number of points, each of which takes a few numbers.
    fits(32 * u64::from(input.n))?;
    Ok((Array::vector(input.x), Array::scalar(input.n.into())))
}
