//! The primitive functions, as methods of expressions.

use super::graph::attribute_to;
use super::nodes::{prim1, prim2};
use super::operators::bool_ty;
use super::{Exp, ToExp, cond, constant, lit};
use crate::ast::Repr;
use crate::repr::ScalarType;
use crate::repr::op::{Cmp, Family, Float1, Float2, FloatTest, Int1, Int2, Logic, Num1, Num2, Op1, Op2};
use crate::types::{Floating, Integral, Num, Primitive};
use std::panic::Location;

/// Defines methods of one argument (the receiver) and of two, with results of the same type.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $op:expr;)* @ $($(#[$doc2:meta])* $name2:ident = $op2:expr;)*) => {
        $($(#[$doc])*
        #[track_caller]
        pub fn $name(self) -> Exp<T> {
            Exp::new(prim1(stringify!($name), Location::caller(), $op, T::raw(), self.handle()))
        })*
        $($(#[$doc2])*
        #[track_caller]
        pub fn $name2(self, other: impl ToExp<T>) -> Exp<T> {
            let other = other.to_exp();
            Exp::new(prim2(stringify!($name2), Location::caller(), $op2, T::raw(), self.handle(), other.handle()))
        })*
    };
}

/// Comparisons.
macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident = $op:expr;)*) => {
        $($(#[$doc])*
        #[track_caller]
        pub fn $name(self, other: impl ToExp<T>) -> Exp<bool> {
            let other = other.to_exp();
            Exp::new(prim2(stringify!($name), Location::caller(), Op2::Cmp($op), bool_ty(), self.handle(), other.handle()))
        })*
    };
}

impl<T: Primitive> Exp<T> {
    comparisons! {
        /// Whether it is less than `other`. Comparisons with NaN are false. `false` is less than `true`.
        lt = Cmp::Lt;
        /// Whether it is less than or equal to `other`.
        le = Cmp::Le;
        /// Whether it is greater than `other`.
        gt = Cmp::Gt;
        /// Whether it is greater than or equal to `other`.
        ge = Cmp::Ge;
        /// Whether it is equal to `other`.
        eq = Cmp::Eq;
        /// Whether it differs from `other`; true for NaN.
        ne = Cmp::Ne;
    }

    /// Converts to another scalar type like Rust's `as`: floating-point numbers to integers by truncation, with
    /// saturation; integers to integers with wrapping; to `bool`, whether it is not zero.
    #[track_caller]
    pub fn cast<U: Primitive>(self) -> Exp<U> {
        Exp::new(prim1("cast", Location::caller(), Op1::Cast(U::SCALAR), U::raw(), self.handle()))
    }
}

impl Exp<bool> {
    /// Whether both are true; both are computed.
    #[track_caller]
    pub fn and(self, other: impl ToExp<bool>) -> Exp<bool> {
        let other = other.to_exp();
        Exp::new(prim2("and", Location::caller(), Op2::Logic(Logic::And), bool_ty(), self.handle(), other.handle()))
    }
    /// Whether at least one is true; both are computed.
    #[track_caller]
    pub fn or(self, other: impl ToExp<bool>) -> Exp<bool> {
        let other = other.to_exp();
        Exp::new(prim2("or", Location::caller(), Op2::Logic(Logic::Or), bool_ty(), self.handle(), other.handle()))
    }
    /// Whether it is false.
    #[track_caller]
    #[allow(clippy::should_implement_trait)] // the trait is implemented too; the method reads better in a chain
    pub fn not(self) -> Exp<bool> {
        !self
    }
}

impl<T: Num> Exp<T> {
    methods! {
        /// The absolute value. The least integer is its own absolute value.
        abs = Op1::Num(Num1::Abs);
        /// -1, 0 or 1. For floating-point numbers: NaN for NaN, and a zero for the same zero.
        signum = Op1::Num(Num1::Signum);
        @
        /// The smaller number; if one of them is NaN, the other one.
        min = Op2::Num(Num2::Min);
        /// The larger number; if one of them is NaN, the other one.
        max = Op2::Num(Num2::Max);
    }

    /// The nearest number between `low` and `high`. If `high` is less than `low`, it is `high`; for NaN it is `low`.
    #[track_caller]
    pub fn clamp(self, low: impl ToExp<T>, high: impl ToExp<T>) -> Exp<T> {
        self.max(low).min(high)
    }

    /// The nearest number between `low` and `high`, as `clip` in NumPy: if `high` is less than `low`, it is `high`, and NaN stays NaN (of
    /// which [`clamp`](Exp::clamp) makes `low`). Its derivative is that of the number from `low` to `high`, both included, and that of the
    /// bound elsewhere.
    #[track_caller]
    pub fn clip(self, low: impl ToExp<T>, high: impl ToExp<T>) -> Exp<T> {
        let _site = attribute_to("clip", Location::caller());
        at_most(at_least(self, low.to_exp()), high.to_exp())
    }
}

/// The number, or `low` if it is less.
pub(super) fn at_least<T: Num>(x: Exp<T>, low: Exp<T>) -> Exp<T> {
    cond(x.lt(low), low, x)
}

/// The number, or `high` if it is greater.
pub(super) fn at_most<T: Num>(x: Exp<T>, high: Exp<T>) -> Exp<T> {
    cond(x.gt(high), high, x)
}

impl<T: Integral> Exp<T> {
    methods! {
        /// The number of bits that are 1.
        count_ones = Op1::Int(Int1::CountOnes);
        /// The number of leading bits that are 0.
        leading_zeros = Op1::Int(Int1::LeadingZeros);
        /// The number of trailing bits that are 0.
        trailing_zeros = Op1::Int(Int1::TrailingZeros);
        @
        /// The quotient rounded so that the remainder is not negative.
        div_euclid = Op2::Int(Int2::DivEuclid);
        /// The remainder, which is not negative.
        rem_euclid = Op2::Int(Int2::RemEuclid);
    }
}

impl<T: Floating> Exp<T> {
    /// The natural logarithm, under the name that it has in NumPy.
    #[deprecated(note = "the natural logarithm is `ln`; `log2` and `log10` are those to other bases")]
    #[track_caller]
    pub fn log(self) -> Exp<T> {
        self.ln()
    }

    methods! {
        /// The sine of an angle in radians.
        sin = Op1::Float(Float1::Sin);
        /// The cosine.
        cos = Op1::Float(Float1::Cos);
        /// The tangent.
        tan = Op1::Float(Float1::Tan);
        /// The angle with this sine, from -π/2 to π/2; NaN outside -1 to 1.
        asin = Op1::Float(Float1::Asin);
        /// The angle with this cosine, from 0 to π; NaN outside -1 to 1.
        acos = Op1::Float(Float1::Acos);
        /// The angle with this tangent, from -π/2 to π/2.
        atan = Op1::Float(Float1::Atan);
        /// The hyperbolic sine.
        sinh = Op1::Float(Float1::Sinh);
        /// The hyperbolic cosine.
        cosh = Op1::Float(Float1::Cosh);
        /// The hyperbolic tangent.
        tanh = Op1::Float(Float1::Tanh);
        /// The hyperbolic secant, 1 / cosh(x).
        sech = Op1::Float(Float1::Sech);
        /// The inverse hyperbolic sine.
        asinh = Op1::Float(Float1::Asinh);
        /// The inverse hyperbolic cosine; NaN below 1.
        acosh = Op1::Float(Float1::Acosh);
        /// The inverse hyperbolic tangent; NaN outside -1 to 1.
        atanh = Op1::Float(Float1::Atanh);
        /// The exponential function, e^x.
        exp = Op1::Float(Float1::Exp);
        /// 2^x.
        exp2 = Op1::Float(Float1::Exp2);
        /// e^x - 1, precise near 0.
        exp_m1 = Op1::Float(Float1::ExpM1);
        /// The natural logarithm; NaN below 0.
        ln = Op1::Float(Float1::Log);
        /// The logarithm to base 2.
        log2 = Op1::Float(Float1::Log2);
        /// The logarithm to base 10.
        log10 = Op1::Float(Float1::Log10);
        /// The natural logarithm of 1 + x, precise near 0.
        ln_1p = Op1::Float(Float1::Log1p);
        /// The square root; NaN below 0.
        sqrt = Op1::Float(Float1::Sqrt);
        /// The cube root.
        cbrt = Op1::Float(Float1::Cbrt);
        /// The reciprocal, 1 / x.
        recip = Op1::Float(Float1::Recip);
        /// The error function.
        erf = Op1::Float(Float1::Erf);
        /// 1 minus the error function, precise where the error function is near 1.
        erfc = Op1::Float(Float1::Erfc);
        /// The inverse of the error function; infinite at -1 and 1, NaN outside.
        erfinv = Op1::Float(Float1::ErfInv);
        /// The distribution function of the standard normal distribution.
        normal_cdf = Op1::Float(Float1::NormalCdf);
        /// The logarithm of the absolute value of the gamma function.
        lgamma = Op1::Float(Float1::LogGamma);
        /// The derivative of `lgamma`.
        digamma = Op1::Float(Float1::Family(Family::Polygamma, 0));
        /// The Bessel function of the first kind of order 0.
        j0 = Op1::Float(Float1::Family(Family::BesselJ, 0));
        /// The Bessel function of the first kind of order 1.
        j1 = Op1::Float(Float1::Family(Family::BesselJ, 1));
        /// The modified Bessel function of the first kind of order 0, divided by e^|x|.
        i0e = Op1::Float(Float1::Family(Family::BesselI, 0));
        /// The modified Bessel function of the first kind of order 1, divided by e^|x|.
        i1e = Op1::Float(Float1::Family(Family::BesselI, 1));
        /// The same number, as a constant: its derivative is zero in all modes.
        detach = Op1::Float(Float1::Detach);
        /// The largest integer that is not greater.
        floor = Op1::Float(Float1::Floor);
        /// The smallest integer that is not less.
        ceil = Op1::Float(Float1::Ceil);
        /// The nearest integer; halves are rounded away from zero.
        round = Op1::Float(Float1::Round);
        /// The integer part.
        trunc = Op1::Float(Float1::Trunc);
        @
        /// Raises it to the power `other`.
        powf = Op2::Float(Float2::Pow);
        /// Raises it to the power `other`, like `powf`.
        pow = Op2::Float(Float2::Pow);
        /// The angle of the point (`other`, `self`), from -π to π: `y.atan2(x)`.
        atan2 = Op2::Float(Float2::Atan2);
        /// The length of the vector (`self`, `other`).
        hypot = Op2::Float(Float2::Hypot);
    }

    /// The derivative of order `n` of `digamma`.
    #[track_caller]
    pub fn polygamma(self, n: u8) -> Exp<T> {
        let op = Op1::Float(Float1::Family(Family::Polygamma, n));
        Exp::new(prim1("polygamma", Location::caller(), op, T::raw(), self.handle()))
    }

    /// Raises it to an integer power, by repeated squaring.
    #[track_caller]
    pub fn powi(self, n: i32) -> Exp<T> {
        let _site = attribute_to("powi", Location::caller());
        let (mut square, mut rest) = (self, n.unsigned_abs());
        let mut power: Option<Exp<T>> = None;
        while rest > 0 {
            if rest % 2 == 1 {
                power = Some(power.map_or(square, |p| p * square));
            }
            rest /= 2;
            if rest > 0 {
                square = square * square;
            }
        }
        let power = power.unwrap_or_else(|| constant(T::one()));
        if n < 0 { power.recip() } else { power }
    }

    /// Whether it is NaN.
    #[track_caller]
    pub fn is_nan(self) -> Exp<bool> {
        self.test("is_nan", FloatTest::IsNan)
    }
    /// Whether it is infinite, positive or negative.
    #[track_caller]
    pub fn is_infinite(self) -> Exp<bool> {
        self.test("is_infinite", FloatTest::IsInfinite)
    }
    /// Whether it is neither infinite nor NaN.
    #[track_caller]
    pub fn is_finite(self) -> Exp<bool> {
        self.test("is_finite", FloatTest::IsFinite)
    }
    /// The number, with 0 in place of NaN and the largest numbers in place of infinities, as `nan_to_num` in NumPy. Its derivative is 0 where it
    /// is replaced.
    #[track_caller]
    pub fn nan_to_num(self) -> Exp<T> {
        let _site = attribute_to("nan_to_num", Location::caller());
        let most = match T::SCALAR {
            ScalarType::F32 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        let zero = lit::<T>(0.0);
        let infinite = cond::<T>(self.gt(zero), lit::<T>(most), lit::<T>(-most));
        cond(self.is_finite(), self, cond::<T>(self.is_nan(), zero, infinite))
    }
    /// The bits as an unsigned integer of the same size, as of Rust's `f64::to_bits`. Its derivative is 0.
    #[track_caller]
    pub fn to_bits(self) -> Exp<T::Bits> {
        Exp::new(prim1("to_bits", Location::caller(), Op1::Bits, T::Bits::raw(), self.handle()))
    }
    /// The number with these bits, as of Rust's `f64::from_bits`: `Exp::<f64>::from_bits(bits)`.
    #[track_caller]
    pub fn from_bits(bits: impl ToExp<T::Bits>) -> Exp<T> {
        Exp::new(prim1("from_bits", Location::caller(), Op1::Bits, T::raw(), bits.to_exp().handle()))
    }
    #[track_caller]
    fn test(self, name: &'static str, test: FloatTest) -> Exp<bool> {
        Exp::new(prim1(name, Location::caller(), Op1::Test(test), bool_ty(), self.handle()))
    }
}
