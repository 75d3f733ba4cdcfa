//! The order in which scalars are sorted.
//!
//! NOTE \[Sorted order\]: `argsort` returns for each innermost row the positions of its elements, from the smallest
//! element to the largest one, and equal elements in the order of their positions. So there is one right result, and
//! all backends compute it. Numbers have the order of `<`: in particular, `0.0` and `-0.0` are equal. All NaN are equal,
//! whatever their bits are, and larger than all numbers. `false` is smaller than `true`.
//!
//! [`Scalar::sort_key`] maps a scalar to an unsigned integer of the same size with the same order. Backends sort these
//! integers. They do not compare floating-point numbers, because some devices take subnormal numbers for zeros.

use super::{Scalar, ScalarType};
use std::cmp::Ordering;

impl Scalar {
    /// Compares two scalars of one type in the order in which they are sorted.
    ///
    /// ```
    /// use accel_core::repr::Scalar;
    /// use std::cmp::Ordering::{Equal, Less};
    /// let order = |x: f64, y: f64| Scalar::F64(x).sort_order(Scalar::F64(y));
    /// assert_eq!(order(1.0, 2.0), Less);
    /// assert_eq!(order(-0.0, 0.0), Equal);
    /// assert_eq!(order(f64::INFINITY, -f64::NAN), Less);
    /// ```
    pub fn sort_order(self, other: Scalar) -> Ordering {
        fn float<T: PartialOrd>(x: T, y: T, is_nan: impl Fn(&T) -> bool) -> Ordering {
            x.partial_cmp(&y).unwrap_or_else(|| is_nan(&x).cmp(&is_nan(&y)))
        }
        match (self, other) {
            (Scalar::F32(x), Scalar::F32(y)) => float(x, y, |x| x.is_nan()),
            (Scalar::F64(x), Scalar::F64(y)) => float(x, y, |x| x.is_nan()),
            (Scalar::U64(x), Scalar::U64(y)) => x.cmp(&y),
            // The bits of all others are extended with their sign.
            (x, y) => (x.bits() as i64).cmp(&(y.bits() as i64)),
        }
    }

    /// An unsigned integer of the size of the scalar. Those of two scalars of one type have the order of the scalars.
    ///
    /// ```
    /// use accel_core::repr::Scalar;
    /// assert_eq!(Scalar::I8(-128).sort_key(), 0);
    /// assert_eq!(Scalar::I8(127).sort_key(), 255);
    /// assert_eq!(Scalar::F32(-0.0).sort_key(), Scalar::F32(0.0).sort_key());
    /// assert!(Scalar::F32(1.5).sort_key() < Scalar::F32(f32::NAN).sort_key());
    /// ```
    pub fn sort_key(self) -> u64 {
        match self {
            Scalar::Bool(x) => x.into(),
            Scalar::U8(x) => x.into(),
            Scalar::U16(x) => x.into(),
            Scalar::U32(x) => x.into(),
            Scalar::U64(x) => x,
            Scalar::I8(x) => (x as u8 ^ 1 << 7).into(),
            Scalar::I16(x) => (x as u16 ^ 1 << 15).into(),
            Scalar::I32(x) => (x as u32 ^ 1 << 31).into(),
            Scalar::I64(x) => x as u64 ^ 1 << 63,
            Scalar::F32(x) => f32_key(x).into(),
            Scalar::F64(x) => f64_key(x),
        }
    }
}

macro_rules! float_key {
    ($name:ident $float:ident $bits:ident) => {
        /// The [sort key](Scalar::sort_key) of a floating-point number.
        #[inline]
        pub fn $name(x: $float) -> $bits {
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            let bits = x.to_bits();
            let magnitude = bits & !SIGN;
            if magnitude > $float::INFINITY.to_bits() {
                $bits::MAX
            } else if bits & SIGN == 0 {
                bits | SIGN
            } else {
                SIGN - magnitude
            }
        }
    };
}
float_key!(f32_key f32 u32);
float_key!(f64_key f64 u64);

impl ScalarType {
    /// The number of bits of a [sort key](Scalar::sort_key).
    pub fn sort_bits(self) -> u32 {
        match self {
            ScalarType::Bool => 1,
            ScalarType::I8 | ScalarType::U8 => 8,
            ScalarType::I16 | ScalarType::U16 => 16,
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 32,
            ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(t: ScalarType) -> Vec<Scalar> {
        let float = |x: f64| match t {
            ScalarType::F32 => Scalar::F32(x as f32),
            _ => t.from_f64(x),
        };
        let mut all: Vec<_> = [-1e300, -7.5, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, 2.0, 100.0, 1e300].map(float).into();
        all.extend([t.least(), t.greatest()]);
        if t.is_float() {
            all.extend([float(f64::NAN), float(-f64::NAN)]);
        }
        all
    }

    #[test]
    fn keys_have_the_order_of_the_scalars() {
        for t in ScalarType::ALL {
            for (x, y) in samples(t).into_iter().flat_map(|x| samples(t).into_iter().map(move |y| (x, y))) {
                assert_eq!(x.sort_key().cmp(&y.sort_key()), x.sort_order(y), "{x:?} {y:?}");
            }
            let largest = samples(t).into_iter().map(Scalar::sort_key).max().unwrap_or(0);
            assert!(u64::BITS - largest.leading_zeros() <= t.sort_bits(), "{t}");
        }
    }
}
