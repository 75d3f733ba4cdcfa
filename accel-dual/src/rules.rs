//! The derivatives of the functions of one and two numbers, in one table for forward and reverse mode.
//!
//! Each function returns its value and its partial derivatives. Where a function has none (at a kink or a jump), the table
//! chooses one, as the array language does: `abs` has the derivative 0 at 0, and for equal arguments `max` and `min` have
//! the derivatives of their first argument.

use num_traits::Float;

/// The value of a function of one number and its derivative.
pub(crate) type One<S> = (S, S);

/// A small integer as a number.
#[inline(always)]
fn int<S: Float>(n: i8) -> S {
    let one = S::one();
    match n {
        1 => one,
        2 => one + one,
        3 => one + one + one,
        _ => S::from(n).unwrap_or_else(S::nan),
    }
}

/// The logarithm to a constant base.
#[inline(always)]
fn ln_of<S: Float>(n: i8) -> S {
    int::<S>(n).ln()
}

/// Defines rules `name(x, y) => derivative`, where `y` is the value.
macro_rules! rules {
    ($($name:ident($x:ident, $y:ident) => $derivative:expr)*) => {$(
        #[inline(always)]
        pub(crate) fn $name<S: Float>($x: S) -> One<S> {
            let $y = $x.$name();
            // Not every derivative needs the value.
            let _ = $y;
            ($y, $derivative)
        }
    )*};
}

rules! {
    recip(x, y) => -(y * y)
    sqrt(x, y) => (y + y).recip()
    cbrt(x, y) => (int::<S>(3) * y * y).recip()
    exp(x, y) => y
    exp2(x, y) => y * ln_of(2)
    exp_m1(x, y) => y + int(1)
    ln(x, y) => x.recip()
    log2(x, y) => (x * ln_of(2)).recip()
    log10(x, y) => (x * ln_of(10)).recip()
    ln_1p(x, y) => (x + int(1)).recip()
    sin(x, y) => x.cos()
    cos(x, y) => -x.sin()
    tan(x, y) => y * y + int(1)
    asin(x, y) => (int::<S>(1) - x * x).sqrt().recip()
    acos(x, y) => -(int::<S>(1) - x * x).sqrt().recip()
    atan(x, y) => (x * x + int(1)).recip()
    sinh(x, y) => x.cosh()
    cosh(x, y) => x.sinh()
    tanh(x, y) => int::<S>(1) - y * y
    asinh(x, y) => (x * x + int(1)).sqrt().recip()
    acosh(x, y) => ((x - int(1)) * (x + int(1))).sqrt().recip()
    atanh(x, y) => (int::<S>(1) - x * x).recip()
    fract(x, y) => int(1)
}

/// The absolute value.
#[inline(always)]
pub(crate) fn abs<S: Float>(x: S) -> One<S> {
    (x.abs(), if x.is_zero() { S::zero() } else { x.signum() })
}

/// The power with an integer exponent.
#[inline(always)]
pub(crate) fn powi<S: Float>(x: S, n: i32) -> One<S> {
    let derivative = match n {
        0 => S::zero(),
        // The exponent `i32::MIN` has no predecessor.
        i32::MIN => x.powi(n) / x * S::from(n).unwrap_or_else(S::nan),
        _ => x.powi(n - 1) * S::from(n).unwrap_or_else(S::nan),
    };
    (x.powi(n), derivative)
}

/// The power with a constant exponent.
#[inline(always)]
pub(crate) fn powf_constant<S: Float>(x: S, n: S) -> One<S> {
    let derivative = if n.is_zero() && x.is_zero() { S::zero() } else { n * x.powf(n - S::one()) };
    (x.powf(n), derivative)
}

/// The derivative of a power by its exponent. The powers of zero are 0 for all positive exponents; for the others, it is 0 by
/// convention.
#[inline(always)]
pub(crate) fn powf_by_exponent<S: Float>(x: S, y: S) -> S {
    if x.is_zero() { S::zero() } else { y * x.ln() }
}
