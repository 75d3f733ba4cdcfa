//! Forward mode: numbers with tangents.

use crate::numbers::{left_operators, numbers};
use crate::real::Real;
use crate::strong::Strong;

/// A number with its derivatives in `N` directions.
///
/// `T` is the type of values and derivatives: `f32`, `f64`, or again a number with derivatives. `Dual<Rev<f64>, N>`
/// differentiates in forward mode and then in reverse mode, `Rev<Dual<f64, N>>` the other way round.
#[derive(Clone, Copy, Debug)]
pub struct Dual<T = f64, const N: usize = 1> {
    /// The value.
    pub value: T,
    /// The derivatives of the value in each direction.
    pub tangent: [T; N],
}

impl<T: Real, const N: usize> Dual<T, N> {
    /// A number with the given derivatives.
    #[inline(always)]
    pub fn new(value: T, tangent: [T; N]) -> Self {
        Dual { value, tangent }
    }

    /// A number whose derivatives are zero.
    #[inline(always)]
    pub fn constant(value: T) -> Self {
        Dual { value, tangent: [T::zero(); N] }
    }

    /// An input whose derivative is one in the given direction, and zero in all others. A direction of `N` or more gives a
    /// constant.
    #[inline(always)]
    pub fn variable(value: T, direction: usize) -> Self {
        let tangent = std::array::from_fn(|k| if k == direction { T::one() } else { T::zero() });
        Dual { value, tangent }
    }

    #[inline(always)]
    fn value(&self) -> T {
        self.value
    }

    /// Whether all derivatives are zero.
    #[inline(always)]
    fn is_const(&self) -> bool {
        self.tangent.iter().all(|t| t.is_zero() && t.is_constant())
    }

    #[inline(always)]
    fn lift1(self, (value, derivative): (T, T)) -> Self {
        Dual { value, tangent: self.tangent.map(|t| t.strong_mul(derivative)) }
    }

    #[inline(always)]
    fn lift2(self, other: Self, value: T, da: T, db: T) -> Self {
        Dual {
            value,
            tangent: { std::array::from_fn(|k| self.tangent[k].strong_mul(da) + other.tangent[k].strong_mul(db)) },
        }
    }
}

impl<T: Real, const N: usize> Strong for Dual<T, N> {
    #[inline(always)]
    fn strong_mul(self, other: Self) -> Self {
        self.lift2(other, self.value.strong_mul(other.value), other.value, self.value)
    }
}

numbers!(Dual<T, N>, T, [T: Real, const N: usize]);
left_operators!(f32, Dual<f32, N>, [const N: usize]);
left_operators!(f64, Dual<f64, N>, [const N: usize]);
