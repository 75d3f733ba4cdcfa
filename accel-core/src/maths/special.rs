//! Special functions: the error function, the logarithm of the gamma function and its derivatives, and hyperbolic functions
//! that are less precise, overflow or do not exist in the standard library.
//!
//! `erf`, `erfc`, `asinh`, `acosh` and `atanh` come from the `libm` crate.

use super::bessel::{bessel_i, bessel_j};
use super::log_gamma::log_gamma;
use super::normal;
use super::polygamma::polygamma;
use crate::repr::op::Family;

/// Floating-point types with special functions.
pub trait SpecialFloat: Copy {
    /// The error function.
    fn error_function(x: Self) -> Self;
    /// `1 - erf(x)`, accurate also where this is small.
    fn error_function_complement(x: Self) -> Self;
    /// The inverse of the error function; infinite at -1 and 1, NaN outside.
    fn inverse_error_function(x: Self) -> Self;
    /// The distribution function of the standard normal distribution.
    fn normal_distribution(x: Self) -> Self;
    /// The logarithm of the absolute value of the gamma function; infinite at the poles.
    fn log_gamma(x: Self) -> Self;
    /// The hyperbolic secant, `1 / cosh(x)`.
    fn hyperbolic_secant(x: Self) -> Self;
    /// The inverse hyperbolic sine.
    fn inverse_sinh(x: Self) -> Self;
    /// The inverse hyperbolic cosine; NaN below 1.
    fn inverse_cosh(x: Self) -> Self;
    /// The inverse hyperbolic tangent; NaN outside -1 to 1.
    fn inverse_tanh(x: Self) -> Self;
    /// The function of order `n`.
    fn of_family(family: Family, n: u8, x: Self) -> Self;
}

impl SpecialFloat for f64 {
    fn error_function(x: Self) -> f64 {
        libm::erf(x)
    }
    fn error_function_complement(x: Self) -> f64 {
        libm::erfc(x)
    }
    fn inverse_error_function(x: Self) -> f64 {
        normal::inverse_error_function(x)
    }
    fn normal_distribution(x: Self) -> f64 {
        normal::normal_distribution(x)
    }
    fn log_gamma(x: Self) -> f64 {
        log_gamma(x)
    }
    fn hyperbolic_secant(x: Self) -> f64 {
        let e = (-x.abs()).exp();
        2.0 * e / (1.0 + e * e)
    }
    fn inverse_sinh(x: Self) -> f64 {
        libm::asinh(x)
    }
    fn inverse_cosh(x: Self) -> f64 {
        // libm gives finite numbers below -1, where the function is not defined.
        if x < 1.0 { f64::NAN } else { libm::acosh(x) }
    }
    fn inverse_tanh(x: Self) -> f64 {
        libm::atanh(x)
    }
    fn of_family(family: Family, n: u8, x: Self) -> f64 {
        match family {
            Family::Polygamma => polygamma(n, x),
            Family::BesselJ => bessel_j(n, x),
            Family::BesselI => bessel_i(n, x),
        }
    }
}

impl SpecialFloat for f32 {
    fn error_function(x: Self) -> f32 {
        libm::erff(x)
    }
    fn error_function_complement(x: Self) -> f32 {
        libm::erfcf(x)
    }
    fn inverse_error_function(x: Self) -> f32 {
        normal::inverse_error_function(x as f64) as f32
    }
    fn normal_distribution(x: Self) -> f32 {
        normal::normal_distribution(x as f64) as f32
    }
    fn log_gamma(x: Self) -> f32 {
        log_gamma(x as f64) as f32
    }
    fn hyperbolic_secant(x: Self) -> f32 {
        let e = (-x.abs()).exp();
        2.0 * e / (1.0 + e * e)
    }
    fn inverse_sinh(x: Self) -> f32 {
        libm::asinhf(x)
    }
    fn inverse_cosh(x: Self) -> f32 {
        // libm gives finite numbers below -1, where the function is not defined.
        if x < 1.0 { f32::NAN } else { libm::acoshf(x) }
    }
    fn inverse_tanh(x: Self) -> f32 {
        libm::atanhf(x)
    }
    fn of_family(family: Family, n: u8, x: Self) -> f32 {
        f64::of_family(family, n, x as f64) as f32
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const ERF: &[(f64, f64)] = &[
        (1e-10, 1.1283791670955126e-10),
        (0.1, 0.1124629160182849),
        (0.5, 0.5204998778130465),
        (0.84375, 0.7672256612323416),
        (1.0, 0.8427007929497149),
        (1.2, 0.9103139782296353),
        (1.5, 0.9661051464753108),
        (2.5, 0.999593047982555),
        (3.0, 0.9999779095030014),
        (5.5, 0.9999999999999927),
        (10.0, 1.0),
        (25.0, 1.0),
        (-0.3, -0.3286267594591274),
        (-0.5, -0.5204998778130465),
        (-1.5, -0.9661051464753108),
        (-2.5, -0.999593047982555),
        (-7.25, -1.0),
    ];
    const ERFC: &[(f64, f64)] = &[
        (1e-10, 0.999999999887162),
        (0.1, 0.887537083981715),
        (0.5, 0.4795001221869535),
        (0.84375, 0.23277433876765838),
        (1.0, 0.15729920705028513),
        (1.2, 0.08968602177036464),
        (1.5, 0.033894853524689274),
        (2.5, 0.0004069520174449589),
        (3.0, 2.209049699858544e-05),
        (5.5, 7.357847917974398e-15),
        (10.0, 2.088487583762545e-45),
        (25.0, 8.300172571196523e-274),
        (-0.3, 1.3286267594591274),
        (-0.5, 1.5204998778130465),
        (-1.5, 1.9661051464753108),
        (-2.5, 1.999593047982555),
        (-7.25, 2.0),
    ];
    const LGAMMA: &[(f64, f64)] = &[
        (1e-10, 23.025850929882736),
        (0.1, 2.252712651734206),
        (0.5, 0.5723649429247001),
        (0.84375, 0.11198164330278074),
        (1.2, -0.08537409000331583),
        (1.5, -0.12078223763524522),
        (2.5, 0.2846828704729192),
        (5.5, 3.9578139676187165),
        (10.0, 12.801827480081469),
        (25.0, 54.78472939811232),
        (100.5, 361.4355404677776),
        (10000000000.0, 220258509288.81058),
        (-0.3, 1.4648400508576025),
        (-0.5, 1.2655121234846454),
        (-1.5, 0.860047015376481),
        (-2.5, -0.056243716497674054),
        (-7.25, -7.54188344347575),
    ];

    #[track_caller]
    pub(crate) fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs(),
            "{what}: found {found:e}, expected {expected:e}"
        );
    }

    #[test]
    fn inverse_hyperbolic_functions_of_large_numbers_are_finite() {
        close(f32::inverse_sinh(f32::MIN) as f64, -89.41598629223294, 1e-6, "f32 asinh");
        close(f32::inverse_cosh(f32::MAX) as f64, 89.41598629223294, 1e-6, "f32 acosh");
        close(f64::inverse_sinh(f64::MAX), 710.4758600739439, 1e-14, "asinh");
        close(f64::inverse_cosh(f64::MAX), 710.4758600739439, 1e-14, "acosh");
        assert!(f64::inverse_cosh(0.5).is_nan());
    }

    #[test]
    fn error_functions_and_lgamma_agree_with_reference_values() {
        for &(x, y) in ERF {
            close(f64::error_function(x), y, 1e-14, "erf");
        }
        for &(x, y) in ERFC {
            close(f64::error_function_complement(x), y, 1e-13, "erfc");
        }
        for &(x, y) in LGAMMA {
            close(f64::log_gamma(x), y, 1e-13, "lgamma");
        }
        close(f32::error_function(0.5) as f64, 0.5204998778130465, 1e-6, "f32 erf");
        close(f32::error_function_complement(2.5) as f64, 0.0004069520174449589, 1e-6, "f32 erfc");
        close(f32::log_gamma(5.5) as f64, 3.9578139676187165, 1e-6, "f32 lgamma");
        assert_eq!(f64::log_gamma(-2.0), f64::INFINITY);
    }
}
