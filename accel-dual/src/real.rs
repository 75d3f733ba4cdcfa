//! Numbers that generic code computes with.

use crate::strong::Strong;
use num_traits::{Float, FloatConst, FromPrimitive, NumAssign};
use std::fmt::{Debug, Display};
use std::iter::{Product, Sum};

/// A real number: `f32`, `f64`, or one of them with derivatives ([`Dual`](crate::Dual), [`Rev`](crate::Rev)).
///
/// Code that is generic in `T: Real` computes values with `f64`, tangents with `Dual<f64, N>` and gradients with
/// `Rev<f64>`. The mathematical functions are those of [`num_traits::Float`]. Comparisons look only at values, so a branch
/// is taken as in the code without derivatives.
///
/// ```
/// use accel_dual::Real;
///
/// fn energy<T: Real>(xs: &[T]) -> T {
///     xs.iter().map(|&x| T::lit(0.5) * x * x).sum()
/// }
///
/// assert_eq!(energy(&[3.0, 4.0]), 12.5);
/// assert_eq!(accel_dual::grad(|xs: Vec<_>| energy(&xs), &vec![3.0, 4.0]).unwrap(), [3.0, 4.0]);
/// ```
pub trait Real:
    Float
    + FloatConst
    + FromPrimitive
    + NumAssign
    + Sum
    + Product
    + Default
    + Debug
    + Display
    + Send
    + Sync
    + Strong
    + 'static
{
    /// A constant: its derivative is zero.
    fn lit(value: f64) -> Self;

    /// The value without its derivatives.
    fn number(&self) -> f64;

    /// Whether the number is known not to depend on an input.
    fn is_constant(&self) -> bool;

    /// The logistic function, 1 / (1 + e^-x), without overflow.
    #[inline]
    fn sigmoid(self) -> Self {
        let is_right = self >= Self::zero();
        let least = if is_right { -self } else { self };
        let e = least.exp();
        let r = (e + Self::one()).recip();
        if is_right { r } else { e * r }
    }

    /// The logarithm of the logistic function.
    #[inline]
    fn log_sigmoid(self) -> Self {
        -(-self).softplus()
    }

    /// ln(1 + e^x), without overflow.
    #[inline]
    fn softplus(self) -> Self {
        if self >= Self::zero() { self + (-self).exp().ln_1p() } else { self.exp().ln_1p() }
    }

    /// ln(e^`self` + e^`other`). Two infinities of the same sign give this infinity.
    #[inline]
    fn log_add_exp(self, other: Self) -> Self {
        let (most, least) = if self >= other { (self, other) } else { (other, self) };
        if most.is_infinite() && least == most { most } else { most + (least - most).exp().ln_1p() }
    }

    /// x ln `y`, where `self` is x; 0 for x = 0, unless `y` is NaN.
    #[inline]
    fn xlogy(self, y: Self) -> Self {
        let is_no_number = y <= Self::zero() || y == Self::infinity();
        if self.is_zero() && is_no_number { Self::zero() } else { self * y.ln() }
    }

    /// The logarithm of the odds, ln(x / (1 - x)): the inverse of [`sigmoid`](Real::sigmoid). NaN outside 0 to 1.
    #[inline]
    fn logit(self) -> Self {
        let is_near_half = (self - Self::lit(0.5)).abs() < Self::lit(0.25);
        let one = Self::one();
        if is_near_half { ((self + self - one) / (one - self)).ln_1p() } else { self.ln() - (-self).ln_1p() }
    }
}

macro_rules! primitives {
    ($($ty:ty)*) => {$(
        impl Real for $ty {
            #[inline(always)]
            fn lit(value: f64) -> Self {
                value as $ty
            }
            #[inline(always)]
            fn number(&self) -> f64 {
                f64::from(*self)
            }
            #[inline(always)]
            fn is_constant(&self) -> bool {
                true
            }
        }
    )*};
}

primitives!(f32 f64);
