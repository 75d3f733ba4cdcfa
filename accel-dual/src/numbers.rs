//! The operators and functions of numbers with derivatives, in terms of a value and its partial derivatives.

/// Implements the operators, the traits of `num_traits` and [`Real`](crate::Real) for a type of numbers with derivatives.
///
/// The type has these methods, where `S` is the type of its values: `value(self) -> S`, `constant(S) -> Self`,
/// `is_const(&self) -> bool`, `lift1(self, (value, derivative)) -> Self` for a function of one number, and
/// `lift2(self, other, value, derivative, derivative) -> Self` for a function of two.
macro_rules! numbers {
    ($ty:ty, $S:ident, [$($generics:tt)*]) => {
        numbers!(@operators $ty, $S, [$($generics)*],
            Add add AddAssign add_assign (a, b) => (a + b, $S::one(), $S::one());
            Sub sub SubAssign sub_assign (a, b) => (a - b, $S::one(), -$S::one());
            Mul mul MulAssign mul_assign (a, b) => (a * b, b, a);
            Div div DivAssign div_assign (a, b) => { let q = a / b; let r = b.recip(); (q, r, -(q * r)) };
            Rem rem RemAssign rem_assign (a, b) => (a % b, $S::one(), -(a / b).trunc());
        );

        // The functions of `f64` as methods, so that closures need no import of `num_traits::Float`.
        impl<$($generics)*> $ty {
            numbers!(@inherent fract abs recip sqrt cbrt exp exp2 exp_m1 ln log2 log10 ln_1p sin cos tan asin acos atan
                sinh cosh tanh asinh acosh atanh);
            numbers!(@inherent2 powf hypot atan2 max min log);

            numbers!(@inherent_real sigmoid log_sigmoid softplus logit);
            numbers!(@inherent_real2 log_add_exp xlogy);

            #[doc = "As [`f64::powi`]."]
            #[inline]
            pub fn powi(self, n: i32) -> Self {
                num_traits::Float::powi(self, n)
            }

            #[doc = "As [`f64::sin_cos`]."]
            #[inline]
            pub fn sin_cos(self) -> (Self, Self) {
                num_traits::Float::sin_cos(self)
            }
        }

        impl<$($generics)*> std::ops::Neg for $ty {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.lift1((-self.value(), -$S::one()))
            }
        }

        impl<$($generics)*> std::ops::Neg for &$ty {
            type Output = $ty;
            #[inline(always)]
            fn neg(self) -> $ty {
                -*self
            }
        }

        impl<$($generics)*> PartialEq for $ty {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.value() == other.value()
            }
        }

        impl<$($generics)*> PartialOrd for $ty {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.value().partial_cmp(&other.value())
            }
        }

        impl<$($generics)*> PartialEq<$S> for $ty {
            #[inline(always)]
            fn eq(&self, other: &$S) -> bool {
                self.value() == *other
            }
        }

        impl<$($generics)*> PartialOrd<$S> for $ty {
            #[inline(always)]
            fn partial_cmp(&self, other: &$S) -> Option<std::cmp::Ordering> {
                self.value().partial_cmp(other)
            }
        }

        impl<$($generics)*> From<$S> for $ty {
            #[inline(always)]
            fn from(value: $S) -> Self {
                Self::constant(value)
            }
        }

        impl<$($generics)*> Default for $ty {
            #[inline(always)]
            fn default() -> Self {
                Self::constant($S::zero())
            }
        }

        impl<$($generics)*> std::fmt::Display for $ty {
            /// The value.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.value(), f)
            }
        }

        impl<$($generics)*> std::iter::Sum for $ty {
            #[inline]
            fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
                numbers.fold(Self::constant($S::zero()), |a, b| a + b)
            }
        }

        impl<'a, $($generics)*> std::iter::Sum<&'a $ty> for $ty {
            #[inline]
            fn sum<I: Iterator<Item = &'a Self>>(numbers: I) -> Self {
                numbers.fold(Self::constant($S::zero()), |a, b| a + *b)
            }
        }

        impl<$($generics)*> std::iter::Product for $ty {
            #[inline]
            fn product<I: Iterator<Item = Self>>(numbers: I) -> Self {
                numbers.fold(Self::constant($S::one()), |a, b| a * b)
            }
        }

        impl<'a, $($generics)*> std::iter::Product<&'a $ty> for $ty {
            #[inline]
            fn product<I: Iterator<Item = &'a Self>>(numbers: I) -> Self {
                numbers.fold(Self::constant($S::one()), |a, b| a * *b)
            }
        }

        impl<$($generics)*> num_traits::Zero for $ty {
            #[inline(always)]
            fn zero() -> Self {
                Self::constant($S::zero())
            }
            /// Whether the value is zero. The derivatives may be different from zero.
            #[inline(always)]
            fn is_zero(&self) -> bool {
                self.value().is_zero()
            }
        }

        impl<$($generics)*> num_traits::One for $ty {
            #[inline(always)]
            fn one() -> Self {
                Self::constant($S::one())
            }
        }

        impl<$($generics)*> num_traits::Num for $ty {
            type FromStrRadixErr = <$S as num_traits::Num>::FromStrRadixErr;
            fn from_str_radix(text: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
                $S::from_str_radix(text, radix).map(Self::constant)
            }
        }

        impl<$($generics)*> num_traits::ToPrimitive for $ty {
            fn to_i64(&self) -> Option<i64> {
                self.value().to_i64()
            }
            fn to_u64(&self) -> Option<u64> {
                self.value().to_u64()
            }
            fn to_f64(&self) -> Option<f64> {
                self.value().to_f64()
            }
        }

        impl<$($generics)*> num_traits::NumCast for $ty {
            /// A constant. The derivatives of `n`, if it has any, are lost.
            #[inline]
            fn from<Other: num_traits::ToPrimitive>(n: Other) -> Option<Self> {
                <$S as num_traits::NumCast>::from(n).map(Self::constant)
            }
        }

        impl<$($generics)*> num_traits::FromPrimitive for $ty {
            #[inline]
            fn from_i64(n: i64) -> Option<Self> {
                $S::from_i64(n).map(Self::constant)
            }
            #[inline]
            fn from_u64(n: u64) -> Option<Self> {
                $S::from_u64(n).map(Self::constant)
            }
            #[inline]
            fn from_f32(n: f32) -> Option<Self> {
                $S::from_f32(n).map(Self::constant)
            }
            #[inline]
            fn from_f64(n: f64) -> Option<Self> {
                $S::from_f64(n).map(Self::constant)
            }
        }

        impl<$($generics)*> num_traits::Signed for $ty {
            fn abs(&self) -> Self {
                num_traits::Float::abs(*self)
            }
            fn abs_sub(&self, other: &Self) -> Self {
                if self.value() <= other.value() { Self::constant($S::zero()) } else { *self - *other }
            }
            fn signum(&self) -> Self {
                num_traits::Float::signum(*self)
            }
            fn is_positive(&self) -> bool {
                self.value() > $S::zero()
            }
            fn is_negative(&self) -> bool {
                self.value() < $S::zero()
            }
        }

        numbers!(@constants $ty, $S, [$($generics)*],
            E FRAC_1_PI FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8 LN_10
            LN_2 LOG10_E LOG2_E PI SQRT_2);

        impl<$($generics)*> num_traits::Float for $ty {
            numbers!(@constant $S, nan infinity neg_infinity neg_zero min_value min_positive_value max_value epsilon);
            numbers!(@test is_nan is_infinite is_finite is_normal is_sign_positive is_sign_negative);
            numbers!(@step floor ceil round trunc signum);
            numbers!(@one fract abs recip sqrt cbrt exp exp2 exp_m1 ln log2 log10 ln_1p sin cos tan asin acos atan
                sinh cosh tanh asinh acosh atanh);
            fn classify(self) -> std::num::FpCategory {
                self.value().classify()
            }
            #[inline]
            fn mul_add(self, a: Self, b: Self) -> Self {
                self * a + b
            }
            #[inline]
            fn powi(self, n: i32) -> Self {
                self.lift1(crate::rules::powi(self.value(), n))
            }
            #[inline]
            fn powf(self, n: Self) -> Self {
                let (x, e) = (self.value(), n.value());
                if n.is_const() {
                    return self.lift1(crate::rules::powf_constant(x, e));
                }
                let (y, by_base) = crate::rules::powf_constant(x, e);
                self.lift2(n, y, by_base, crate::rules::powf_by_exponent(x, y))
            }
            #[inline]
            fn log(self, base: Self) -> Self {
                self.ln() / base.ln()
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // As in `f64::max`, a NaN loses.
                if self.value() >= other.value() || other.value().is_nan() { self } else { other }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self.value() <= other.value() || other.value().is_nan() { self } else { other }
            }
            fn abs_sub(self, other: Self) -> Self {
                if self.value() <= other.value() { Self::constant($S::zero()) } else { self - other }
            }
            #[inline]
            fn hypot(self, other: Self) -> Self {
                let (x, y) = (self.value(), other.value());
                let h = x.hypot(y);
                let (by_x, by_y) = crate::rules::hypot_derivatives(x, y, h);
                self.lift2(other, h, by_x, by_y)
            }
            #[inline]
            fn atan2(self, other: Self) -> Self {
                let (y, x) = (self.value(), other.value());
                let (by_y, by_x) = crate::rules::atan2_derivatives(y, x);
                self.lift2(other, y.atan2(x), by_y, by_x)
            }
            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                let (sin, cos) = self.value().sin_cos();
                (self.lift1((sin, cos)), self.lift1((cos, -sin)))
            }
            #[inline]
            fn to_degrees(self) -> Self {
                let factor = $S::one().to_degrees();
                self.lift1((self.value().to_degrees(), factor))
            }
            #[inline]
            fn to_radians(self) -> Self {
                let factor = $S::one().to_radians();
                self.lift1((self.value().to_radians(), factor))
            }
            #[inline]
            fn copysign(self, sign: Self) -> Self {
                if self.value().is_sign_negative() == sign.value().is_sign_negative() { self } else { -self }
            }
            fn integer_decode(self) -> (u64, i16, i8) {
                self.value().integer_decode()
            }
        }

        impl<$($generics)*> crate::Real for $ty {
            #[inline(always)]
            fn lit(value: f64) -> Self {
                Self::constant($S::lit(value))
            }
            #[inline(always)]
            fn number(&self) -> f64 {
                self.value().number()
            }
            #[inline(always)]
            fn is_constant(&self) -> bool {
                self.is_const()
            }
        }
    };

    (@operators $ty:ty, $S:ident, $generics:tt,
        $($Op:ident $op:ident $Assign:ident $assign:ident ($a:ident, $b:ident) => $rule:expr;)*) => {$(
        numbers!(@operator $ty, $S, $generics, $Op $op $Assign $assign ($a, $b) => $rule);
    )*};

    (@operator $ty:ty, $S:ident, [$($generics:tt)*],
        $Op:ident $op:ident $Assign:ident $assign:ident ($a:ident, $b:ident) => $rule:expr) => {
        impl<$($generics)*> std::ops::$Op for $ty {
            type Output = Self;
            #[inline(always)]
            fn $op(self, other: Self) -> Self {
                let ($a, $b) = (self.value(), other.value());
                let (value, da, db) = $rule;
                self.lift2(other, value, da, db)
            }
        }

        impl<$($generics)*> std::ops::$Op<$S> for $ty {
            type Output = Self;
            #[inline(always)]
            fn $op(self, $b: $S) -> Self {
                let $a = self.value();
                let (value, derivative, _) = $rule;
                self.lift1((value, derivative))
            }
        }

        impl<$($generics)*> std::ops::$Op<$S> for &$ty {
            type Output = $ty;
            #[inline(always)]
            fn $op(self, other: $S) -> $ty {
                std::ops::$Op::$op(*self, other)
            }
        }

        impl<$($generics)*> std::ops::$Op<&$ty> for $ty {
            type Output = Self;
            #[inline(always)]
            fn $op(self, other: &Self) -> Self {
                std::ops::$Op::$op(self, *other)
            }
        }

        impl<$($generics)*> std::ops::$Op<$ty> for &$ty {
            type Output = $ty;
            #[inline(always)]
            fn $op(self, other: $ty) -> $ty {
                std::ops::$Op::$op(*self, other)
            }
        }

        impl<$($generics)*> std::ops::$Op<&$ty> for &$ty {
            type Output = $ty;
            #[inline(always)]
            fn $op(self, other: &$ty) -> $ty {
                std::ops::$Op::$op(*self, *other)
            }
        }

        impl<$($generics)*> std::ops::$Assign for $ty {
            #[inline(always)]
            fn $assign(&mut self, other: Self) {
                *self = std::ops::$Op::$op(*self, other);
            }
        }

        impl<$($generics)*> std::ops::$Assign<&$ty> for $ty {
            #[inline(always)]
            fn $assign(&mut self, other: &Self) {
                *self = std::ops::$Op::$op(*self, *other);
            }
        }

        impl<$($generics)*> std::ops::$Assign<$S> for $ty {
            #[inline(always)]
            fn $assign(&mut self, other: $S) {
                *self = std::ops::$Op::$op(*self, other);
            }
        }
    };

    (@constants $ty:ty, $S:ident, [$($generics:tt)*], $($name:ident)*) => {
        #[allow(non_snake_case)]
        impl<$($generics)*> num_traits::FloatConst for $ty {$(
            #[inline(always)]
            fn $name() -> Self {
                Self::constant($S::$name())
            }
        )*}
    };

    (@constant $S:ident, $($name:ident)*) => {$(
        #[inline(always)]
        fn $name() -> Self {
            Self::constant($S::$name())
        }
    )*};

    (@test $($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self) -> bool {
            self.value().$name()
        }
    )*};

    (@inherent $($name:ident)*) => {$(
        #[doc = concat!("As [`f64::", stringify!($name), "`].")]
        #[inline(always)]
        pub fn $name(self) -> Self {
            num_traits::Float::$name(self)
        }
    )*};

    (@inherent2 $($name:ident)*) => {$(
        #[doc = concat!("As [`f64::", stringify!($name), "`].")]
        #[inline(always)]
        pub fn $name(self, other: Self) -> Self {
            num_traits::Float::$name(self, other)
        }
    )*};

    (@inherent_real $($name:ident)*) => {$(
        #[doc = concat!("As [`Real::", stringify!($name), "`](crate::Real::", stringify!($name), ").")]
        #[inline]
        pub fn $name(self) -> Self {
            crate::Real::$name(self)
        }
    )*};

    (@inherent_real2 $($name:ident)*) => {$(
        #[doc = concat!("As [`Real::", stringify!($name), "`](crate::Real::", stringify!($name), ").")]
        #[inline]
        pub fn $name(self, other: Self) -> Self {
            crate::Real::$name(self, other)
        }
    )*};

    // Functions that are constant between their jumps.
    (@step $($name:ident)*) => {$(
        #[inline]
        fn $name(self) -> Self {
            Self::constant(self.value().$name())
        }
    )*};

    (@one $($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            self.lift1(crate::rules::$name(self.value()))
        }
    )*};
}

/// Implements the operators with a plain number on the left.
macro_rules! left_operators {
    ($prim:ty, $ty:ty, [$($generics:tt)*]) => {
        left_operators!(@ops $prim, $ty, [$($generics)*], Add add, Sub sub, Mul mul, Div div, Rem rem);
    };
    (@ops $prim:ty, $ty:ty, $generics:tt, $($Op:ident $op:ident),*) => {$(
        left_operators!(@op $prim, $ty, $generics, $Op $op);
    )*};
    (@op $prim:ty, $ty:ty, [$($generics:tt)*], $Op:ident $op:ident) => {
        impl<$($generics)*> std::ops::$Op<$ty> for $prim {
            type Output = $ty;
            #[inline(always)]
            fn $op(self, other: $ty) -> $ty {
                std::ops::$Op::$op(<$ty>::constant(self), other)
            }
        }
    };
}

pub(crate) use {left_operators, numbers};
