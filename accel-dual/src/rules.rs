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
    sqrt(x, y) => { let y = finite(y); (y + y).recip() }
    cbrt(x, y) => (int::<S>(3) * y * finite(y)).recip()
    exp(x, y) => y
    exp2(x, y) => y * ln_of(2)
    exp_m1(x, y) => x.exp()
    ln(x, y) => finite(x).recip()
    log2(x, y) => ln_of::<S>(2).recip() / finite(x)
    log10(x, y) => ln_of::<S>(10).recip() / finite(x)
    ln_1p(x, y) => (finite(x) + int(1)).recip()
    sin(x, y) => x.cos()
    cos(x, y) => -x.sin()
    tan(x, y) => y * y + int(1)
    asin(x, y) => one_minus_square(x).sqrt().recip()
    acos(x, y) => -one_minus_square(x).sqrt().recip()
    atan(x, y) => atan_derivative(x)
    sinh(x, y) => x.cosh()
    cosh(x, y) => x.sinh()
    tanh(x, y) => tanh_derivative(x, y)
    asinh(x, y) => finite(x).hypot(int(1)).recip()
    acosh(x, y) => ((finite(x) - int(1)).sqrt() * (x + int(1)).sqrt()).recip()
    atanh(x, y) => one_minus_square(x).recip()
    fract(x, y) => int(1)
}

/// The number, and NaN if it is infinite: NOTE [Infinite arguments] in `accel-ad`.
#[inline(always)]
fn finite<S: Float>(x: S) -> S {
    if x.is_infinite() { x * S::nan() } else { x }
}

/// 1 - x^2; near 1 and -1 as a product without cancellation. Near 0, its derivative would cancel.
#[inline(always)]
fn one_minus_square<S: Float>(x: S) -> S {
    let (one, magnitude) = (int::<S>(1), x.abs());
    if magnitude + magnitude < one { one - x * x } else { (one - x) * (one + x) }
}

/// 1 / (1 + x^2); where the square may overflow, it is 1 / x^2.
#[inline(always)]
fn atan_derivative<S: Float>(x: S) -> S {
    let is_small = x.abs() * S::epsilon() < int(1);
    if is_small { (x * x + int(1)).recip() } else { x.recip() * x.recip() }
}

/// 1 - tanh(x)^2, where `y` is tanh(x). Where that is near 1, it is 1 / cosh(x)^2 by the exponential function.
#[inline(always)]
fn tanh_derivative<S: Float>(x: S, y: S) -> S {
    if y.abs() + y.abs() < int(1) {
        return int::<S>(1) - y * y;
    }
    let e = (-x.abs()).exp();
    let sech = (e + e) / (int::<S>(1) + e * e);
    sech * sech
}

/// The partial derivatives of `y.atan2(x)`, without squares, which overflow or vanish; 0 at the origin.
#[inline(always)]
pub(crate) fn atan2_derivatives<S: Float>(y: S, x: S) -> (S, S) {
    let r = x.hypot(y);
    if r.is_zero() { (S::zero(), S::zero()) } else { (x / r / r, -(y / r / r)) }
}

/// The partial derivatives of `h = x.hypot(y)`; 0 at its kink, the origin, as for `abs`. A length that is subnormal has few digits, and
/// that of a multiple has all.
#[inline(always)]
pub(crate) fn hypot_derivatives<S: Float>(x: S, y: S, h: S) -> (S, S) {
    let constant = |c: f64| S::from(c).unwrap_or_else(S::nan);
    if h.is_zero() {
        (S::zero(), S::zero())
    } else if h < constant(1e-30) {
        let (x, y) = (x * constant(2f64.powi(100)), y * constant(2f64.powi(100)));
        (x / x.hypot(y), y / x.hypot(y))
    } else {
        let h = finite(h);
        (x / h, y / h)
    }
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
    let (y, less) = (x.powf(n), x.powf(n - S::one()));
    let derivative = match () {
        () if n.is_zero() && x.is_zero() => S::zero(),
        // A root of infinity.
        () if less.is_zero() && y.is_infinite() => y * less,
        () => n * less,
    };
    (y, derivative)
}

/// The derivative of a power by its exponent. The powers of zero are 0 for all positive exponents; for the others, it is 0 by
/// convention.
#[inline(always)]
pub(crate) fn powf_by_exponent<S: Float>(x: S, y: S) -> S {
    if x.is_zero() { S::zero() } else { y * x.ln() }
}
