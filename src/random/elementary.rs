//! Functions of numbers that have the same bits everywhere.
//!
//! NOTE [The same bits]: the functions of mathematical libraries differ in their last places from library to library, and a sampler that rejects would turn
//! such a difference into another number. So samplers use these functions, which consist of additions, multiplications, divisions and
//! square roots, rounded as IEEE 754 says. Each is within a few units in the last place. The polynomials interpolate at Chebyshev nodes, with errors
//! below the rounding errors. (A compiler of OpenCL may contract a product and a sum to one operation; then last places differ.)

use crate::repr::ScalarType;
use crate::types::Floating;
use crate::{Exp, constant, lit};

/// The value of a polynomial with these coefficients, the constant one first.
fn polynomial<T: Floating>(coefficients: &[f64], x: Exp<T>) -> Exp<T> {
    let mut from_last = coefficients.iter().rev().map(|c| lit::<T>(*c));
    let last = from_last.next().unwrap_or_else(|| lit(0.0));
    from_last.fold(last, |y, c| y * x + c)
}

/// Whether numbers have single precision.
pub(super) fn is_single<T: Floating>() -> bool {
    T::SCALAR == ScalarType::F32
}

/// (ln m - 2 s) / s³ by s², with s = (m - 1) / (m + 1), for m from √½ to √2.
const LN: [f64; 7] = [
    0.666666666666667,
    0.39999999999899505,
    0.28571428625975487,
    0.2222221113479508,
    0.18182889125261723,
    0.15331721600556042,
    0.14616449685043406,
];
const LN_SINGLE: [f64; 3] = [0.666666850396, 0.39988780566, 0.29579949392];

/// The natural logarithm of a positive normal number.
pub(super) fn ln<T: Floating>(x: Exp<T>) -> Exp<T> {
    let (m, exponent) = if is_single::<T>() { parts_single(x.cast()) } else { parts_double(x.cast()) };
    let s = (m - lit::<T>(1.0)) / (m + lit::<T>(1.0));
    let square = s * s;
    let rest = polynomial(if is_single::<T>() { &LN_SINGLE } else { &LN }, square);
    exponent * lit::<T>(std::f64::consts::LN_2) + (s + s + s * square * rest)
}

/// A number as m 2^e, with m from √½ to √2.
fn parts_double<T: Floating>(x: Exp<f64>) -> (Exp<T>, Exp<T>) {
    let (one, root) = (1f64.to_bits(), std::f64::consts::FRAC_1_SQRT_2.to_bits());
    let shifted = x.to_bits() + (one - root);
    let m = Exp::<f64>::from_bits((shifted & ((1 << 52) - 1)) + root);
    let exponent = (shifted >> 52).cast::<i32>() - 1023;
    (m.cast(), exponent.cast())
}

fn parts_single<T: Floating>(x: Exp<f32>) -> (Exp<T>, Exp<T>) {
    let (one, root) = (1f32.to_bits(), std::f32::consts::FRAC_1_SQRT_2.to_bits());
    let shifted = x.to_bits() + (one - root);
    let m = Exp::<f32>::from_bits((shifted & ((1 << 23) - 1)) + root);
    let exponent = (shifted >> 23).cast::<i32>() - 127;
    (m.cast(), exponent.cast())
}

/// sin(π v / 2) / v by v².
const SIN: [f64; 9] = [
    std::f64::consts::FRAC_PI_2,
    -0.6459640975062462,
    0.07969262624616565,
    -0.004681754135304255,
    0.0001604411847130916,
    -3.5988430204672576e-06,
    5.6921364280986254e-08,
    -6.684416831856085e-10,
    5.87297574479995e-12,
];
const SIN_SINGLE: [f64; 5] = [1.57079632004, -0.645963759584, 0.079689918329, -0.00467414383815, 0.000151671703664];

/// The sine of v right angles, for v from -1 to 1.
pub(super) fn sin_of_right_angles<T: Floating>(v: Exp<T>) -> Exp<T> {
    v * polynomial(if is_single::<T>() { &SIN_SINGLE } else { &SIN }, v * v)
}

/// (e^r - 1 - r) / r², for r from -ln 2 / 2 to ln 2 / 2.
const EXP: [f64; 10] = [
    0.5000000000000001,
    0.16666666666666669,
    0.041666666666624164,
    0.008333333333330065,
    0.0013888888917196719,
    0.00019841269863040545,
    2.4801521322368692e-05,
    2.7557268480310024e-06,
    2.7620075879983367e-07,
    2.5100375832561234e-08,
];

/// The exponential of a number below 700; 0 below -708.
pub(super) fn exp(x: Exp<f64>) -> Exp<f64> {
    // ln 2 as a number with zeros at its end, whose products with small integers are exact, and a rest.
    const HIGH: f64 = 0.693_147_180_369_123_8;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    let bounded = x.max(-708.0);
    let k = (bounded * std::f64::consts::LOG2_E + 0.5).floor();
    let r = bounded - k * HIGH - k * LOW;
    let power = Exp::<f64>::from_bits((k.cast::<i64>() + 1023).cast::<u64>() << 52);
    let y = (polynomial(&EXP, r) * (r * r) + r + 1.0) * power;
    crate::cond(x.lt(-708.0), constant(0.0), y)
}
