//! Products with strong zeros: what does not count has no derivative, even where the derivative by it is infinite.
//!
//! NOTE [Strong zeros] in `accel-ad` states the rule: a contribution whose adjoint (or tangent) or local derivative is exactly 0
//! is 0. A number with derivatives is multiplied part by part: its value can be 0 although its derivatives are not.

/// Numbers whose products can have strong zeros.
pub trait Strong {
    /// `self * other`, and 0 where one of them is 0.
    #[doc(hidden)]
    fn strong_mul(self, other: Self) -> Self;
}

macro_rules! primitives {
    ($($ty:ty)*) => {$(
        impl Strong for $ty {
            #[inline(always)]
            fn strong_mul(self, other: Self) -> Self {
                if (self == 0.0) | (other == 0.0) { 0.0 } else { self * other }
            }
        }
    )*};
}

primitives!(f32 f64);
