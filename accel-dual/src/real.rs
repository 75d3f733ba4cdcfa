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
