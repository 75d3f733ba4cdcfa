//! The normal distribution and the inverse of the error function.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

/// The part of 1 / sqrt(2) that [`FRAC_1_SQRT_2`] lacks.
const REST: f64 = -4.833_646_656_726_457e-17;

/// The distribution function of the standard normal distribution, `erfc(-x / sqrt(2)) / 2`. Far to the left, a rounding error of the
/// argument would be multiplied by `x^2`. So it is computed, and the derivative corrects it.
pub fn normal_distribution(x: f64) -> f64 {
    let z = -x * FRAC_1_SQRT_2;
    let error = if z.is_finite() { (-x).mul_add(FRAC_1_SQRT_2, -z) - x * REST } else { 0.0 };
    0.5 * (libm::erfc(z) - FRAC_2_SQRT_PI * (-z * z).exp() * error)
}

/// The inverse of the error function: an approximation with an error of 0.3 % (Winitzki, "A handy approximation for the error function and
/// its inverse", 2008), or near 0 the tangent, and three steps of Halley's method, each of which multiplies the number of digits by 3.
pub fn inverse_error_function(x: f64) -> f64 {
    let a = x.abs();
    if a >= 1.0 {
        return if a == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    }
    let mut y = if a < 0.25 {
        a / FRAC_2_SQRT_PI
    } else {
        let log = ((1.0 - a) * (1.0 + a)).ln();
        let half = 2.0 / (PI * 0.147) + 0.5 * log;
        ((half * half - log / 0.147).sqrt() - half).sqrt()
    };
    for _ in 0..3 {
        // What the difference is taken from is small near 1.
        let difference = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let newton = difference / (FRAC_2_SQRT_PI * (-y * y).exp());
        y -= newton / (1.0 + y * newton);
    }
    y.copysign(x)
}
