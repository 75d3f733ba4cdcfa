//! The meaning of the primitive functions.
//!
//! [`Op1::with`] and [`Op2::with`] select a function by the operation and by the type of its arguments, and hand it to an
//! [`Unary`] or a [`Binary`], which applies it: to a scalar ([`Op1::eval`], [`Op2::eval`]) or to whole columns. So each
//! function is defined once, and a loop over a column selects it only once.

use super::array::ColumnElt;
use super::op::{Cmp, Float1, Float2, FloatTest, Int1, Int2, Logic, Num1, Num2, Op1, Op2};
use super::{Scalar, ScalarType};
use crate::error::{Error, Result};
use crate::maths::special::SpecialFloat;

/// What is done with a function of one argument, once its types are known.
pub trait Unary {
    /// The outcome.
    type Out;
    /// Applies the function.
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A) -> R) -> Self::Out;
}

/// What is done with a function of two arguments, once its types are known.
pub trait Binary {
    /// The outcome.
    type Out;
    /// Applies the function.
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A, A) -> R) -> Self::Out;
    /// Applies a division of integers, which has no result if the divisor is 0. `name` is for the error.
    fn divide<A: ColumnElt>(self, name: &'static str, f: impl Fn(A, A) -> Option<A>) -> Self::Out;
}

/// The Rust type of a variant of [`ScalarType`].
macro_rules! rust_type {
    (Bool) => {
        bool
    };
    (I8) => {
        i8
    };
    (I16) => {
        i16
    };
    (I32) => {
        i32
    };
    (I64) => {
        i64
    };
    (U8) => {
        u8
    };
    (U16) => {
        u16
    };
    (U32) => {
        u32
    };
    (U64) => {
        u64
    };
    (F32) => {
        f32
    };
    (F64) => {
        f64
    };
}

/// The value of the expression after the list that contains the type `$t`. In the expression, `$T` is the Rust type. The
/// surrounding function returns `None` if no list contains the type.
macro_rules! for_type {
    ($t:expr, $T:ident; $([$($variant:ident)*] => $body:expr;)+) => {
        match $t {
            $($(ScalarType::$variant => { type $T = rust_type!($variant); $body })*)+
            #[allow(unreachable_patterns)]
            _ => return None,
        }
    };
}

impl Op1 {
    /// Hands the function on arguments of type `t` to `u`. `None` if it is not defined on this type.
    #[inline]
    pub fn with<U: Unary>(self, t: ScalarType, u: U) -> Option<U::Out> {
        match self {
            Op1::Num(op) => num1(op, t, u),
            Op1::Float(op) => float1(op, t, u),
            Op1::Test(op) => float_test(op, t, u),
            Op1::Int(op) => int1(op, t, u),
            Op1::Not => (t == ScalarType::Bool).then(|| u.apply(|x: bool| !x)),
            Op1::Cast(to) => cast(to, t, u),
            Op1::Bits => match t {
                ScalarType::F32 => Some(u.apply(f32::to_bits)),
                ScalarType::F64 => Some(u.apply(f64::to_bits)),
                ScalarType::U32 => Some(u.apply(f32::from_bits)),
                ScalarType::U64 => Some(u.apply(f64::from_bits)),
                _ => None,
            },
        }
    }

    /// Evaluates the function at `x`, as the documentation of the operation says.
    ///
    /// An argument of a type for which [`Op1::result`] is `None` gives [`Error::Internal`].
    #[inline]
    pub fn eval(self, x: Scalar) -> Result<Scalar> {
        self.with(x.ty(), One(x)).flatten().ok_or_else(|| ill_typed(self.name(), &[x]))
    }
}

impl Op2 {
    /// Hands the function on arguments of type `t` to `u`. `None` if it is not defined on this type.
    #[inline]
    pub fn with<U: Binary>(self, t: ScalarType, u: U) -> Option<U::Out> {
        match self {
            Op2::Num(op) => num2(op, t, u),
            Op2::Float(op) => float2(op, t, u),
            Op2::Int(op) => int2(op, t, u),
            Op2::Cmp(op) => compare(op, t, u),
            Op2::Logic(op) => (t == ScalarType::Bool).then(|| match op {
                Logic::And => u.apply(|x: bool, y: bool| x && y),
                Logic::Or => u.apply(|x: bool, y: bool| x || y),
            }),
        }
    }

    /// Evaluates the function at `a` and `b`, as the documentation of the operation says.
    ///
    /// Integer division and remainder by zero give [`Error::DivisionByZero`]. Arguments of different types, or of a
    /// type for which [`Op2::result`] is `None`, give [`Error::Internal`].
    #[inline]
    pub fn eval(self, a: Scalar, b: Scalar) -> Result<Scalar> {
        self.with(a.ty(), Both(a, b)).flatten().unwrap_or_else(|| Err(ill_typed(self.name(), &[a, b])))
    }
}

/// Applies a function to a scalar; `None` if it has another type.
struct One(Scalar);

impl Unary for One {
    type Out = Option<Scalar>;
    #[inline]
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A) -> R) -> Option<Scalar> {
        Some(f(A::from_scalar(self.0)?).to_scalar())
    }
}

/// Applies a function to two scalars; `None` if they have other types.
struct Both(Scalar, Scalar);

impl Binary for Both {
    type Out = Option<Result<Scalar>>;
    #[inline]
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A, A) -> R) -> Self::Out {
        Some(Ok(f(A::from_scalar(self.0)?, A::from_scalar(self.1)?).to_scalar()))
    }
    #[inline]
    fn divide<A: ColumnElt>(self, op: &'static str, f: impl Fn(A, A) -> Option<A>) -> Self::Out {
        let quotient = f(A::from_scalar(self.0)?, A::from_scalar(self.1)?);
        Some(quotient.map(A::to_scalar).ok_or_else(|| Error::DivisionByZero { op, within: String::new() }))
    }
}

#[cold]
fn ill_typed(op: &str, args: &[Scalar]) -> Error {
    let types: Vec<_> = args.iter().map(|s| s.ty().to_string()).collect();
    Error::Internal(format!("primitive function `{op}` applied to ({})", types.join(", ")))
}

#[inline]
fn num1<U: Unary>(op: Num1, t: ScalarType, u: U) -> Option<U::Out> {
    Some(for_type!(t, T;
        [F32 F64] => match op {
            Num1::Neg => u.apply(|x: T| -x),
            Num1::Abs => u.apply(|x: T| x.abs()),
            // Rust's `signum` of a zero is 1 with the sign of the zero.
            Num1::Signum => u.apply(|x: T| if x == 0.0 { x } else { x.signum() }),
        };
        [I8 I16 I32 I64] => match op {
            Num1::Neg => u.apply(|x: T| x.wrapping_neg()),
            Num1::Abs => u.apply(|x: T| x.wrapping_abs()),
            Num1::Signum => u.apply(|x: T| x.signum()),
        };
        [U8 U16 U32 U64] => match op {
            Num1::Neg => u.apply(|x: T| x.wrapping_neg()),
            Num1::Abs => u.apply(|x: T| x),
            Num1::Signum => u.apply(|x: T| x.min(1)),
        };
    ))
}

#[inline]
fn float1<U: Unary>(op: Float1, t: ScalarType, u: U) -> Option<U::Out> {
    Some(for_type!(t, T; [F32 F64] => match op {
        Float1::Sin => u.apply(|x: T| x.sin()),
        Float1::Cos => u.apply(|x: T| x.cos()),
        Float1::Tan => u.apply(|x: T| x.tan()),
        Float1::Asin => u.apply(|x: T| x.asin()),
        Float1::Acos => u.apply(|x: T| x.acos()),
        Float1::Atan => u.apply(|x: T| x.atan()),
        Float1::Sinh => u.apply(|x: T| x.sinh()),
        Float1::Cosh => u.apply(|x: T| x.cosh()),
        Float1::Tanh => u.apply(|x: T| x.tanh()),
        Float1::Sech => u.apply(|x: T| SpecialFloat::hyperbolic_secant(x)),
        Float1::Asinh => u.apply(|x: T| SpecialFloat::inverse_sinh(x)),
        Float1::Acosh => u.apply(|x: T| SpecialFloat::inverse_cosh(x)),
        Float1::Atanh => u.apply(|x: T| SpecialFloat::inverse_tanh(x)),
        Float1::Exp => u.apply(|x: T| x.exp()),
        Float1::Exp2 => u.apply(|x: T| x.exp2()),
        Float1::ExpM1 => u.apply(|x: T| x.exp_m1()),
        Float1::Log => u.apply(|x: T| x.ln()),
        Float1::Log2 => u.apply(|x: T| x.log2()),
        Float1::Log10 => u.apply(|x: T| x.log10()),
        Float1::Log1p => u.apply(|x: T| x.ln_1p()),
        Float1::Sqrt => u.apply(|x: T| x.sqrt()),
        Float1::Cbrt => u.apply(|x: T| x.cbrt()),
        Float1::Recip => u.apply(|x: T| x.recip()),
        Float1::Erf => u.apply(|x: T| SpecialFloat::error_function(x)),
        Float1::Erfc => u.apply(|x: T| SpecialFloat::error_function_complement(x)),
        Float1::ErfInv => u.apply(|x: T| SpecialFloat::inverse_error_function(x)),
        Float1::NormalCdf => u.apply(|x: T| SpecialFloat::normal_distribution(x)),
        Float1::Detach => u.apply(|x: T| x),
        Float1::LogGamma => u.apply(|x: T| SpecialFloat::log_gamma(x)),
        Float1::Family(family, n) => u.apply(|x: T| SpecialFloat::of_family(family, n, x)),
        Float1::Floor => u.apply(|x: T| x.floor()),
        Float1::Ceil => u.apply(|x: T| x.ceil()),
        Float1::Round => u.apply(|x: T| x.round()),
        Float1::Trunc => u.apply(|x: T| x.trunc()),
    };))
}

#[inline]
fn float_test<U: Unary>(op: FloatTest, t: ScalarType, u: U) -> Option<U::Out> {
    Some(for_type!(t, T; [F32 F64] => match op {
        FloatTest::IsNan => u.apply(|x: T| x.is_nan()),
        FloatTest::IsInfinite => u.apply(|x: T| x.is_infinite()),
        FloatTest::IsFinite => u.apply(|x: T| x.is_finite()),
    };))
}

#[inline]
fn int1<U: Unary>(op: Int1, t: ScalarType, u: U) -> Option<U::Out> {
    Some(for_type!(t, T; [I8 I16 I32 I64 U8 U16 U32 U64] => match op {
        Int1::BitNot => u.apply(|x: T| !x),
        Int1::CountOnes => u.apply(|x: T| x.count_ones() as T),
        Int1::LeadingZeros => u.apply(|x: T| x.leading_zeros() as T),
        Int1::TrailingZeros => u.apply(|x: T| x.trailing_zeros() as T),
    };))
}

#[inline]
fn num2<U: Binary>(op: Num2, t: ScalarType, u: U) -> Option<U::Out> {
    Some(for_type!(t, T;
        [F32 F64] => match op {
            Num2::Add => u.apply(|x: T, y: T| x + y),
            Num2::Sub => u.apply(|x: T, y: T| x - y),
            Num2::Mul => u.apply(|x: T, y: T| x * y),
            Num2::Div => u.apply(|x: T, y: T| x / y),
            Num2::Rem => u.apply(|x: T, y: T| x % y),
            // Rust's `min` and `max` do not specify which zero they return.
            Num2::Min => u.apply(|x: T, y: T| if y < x || x.is_nan() { y } else { x }),
            Num2::Max => u.apply(|x: T, y: T| if y > x || x.is_nan() { y } else { x }),
        };
        [I8 I16 I32 I64 U8 U16 U32 U64] => match op {
            Num2::Add => u.apply(|x: T, y: T| x.wrapping_add(y)),
            Num2::Sub => u.apply(|x: T, y: T| x.wrapping_sub(y)),
            Num2::Mul => u.apply(|x: T, y: T| x.wrapping_mul(y)),
            Num2::Div => u.divide("/", |x: T, y: T| (y != 0).then(|| x.wrapping_div(y))),
            Num2::Rem => u.divide("%", |x: T, y: T| (y != 0).then(|| x.wrapping_rem(y))),
            Num2::Min => u.apply(|x: T, y: T| x.min(y)),
            Num2::Max => u.apply(|x: T, y: T| x.max(y)),
        };
    ))
}

#[inline]
fn float2<U: Binary>(op: Float2, t: ScalarType, u: U) -> Option<U::Out> {
    Some(for_type!(t, T; [F32 F64] => match op {
        Float2::Pow => u.apply(|x: T, y: T| x.powf(y)),
        Float2::Atan2 => u.apply(|x: T, y: T| x.atan2(y)),
        Float2::Hypot => u.apply(|x: T, y: T| x.hypot(y)),
        Float2::StrongMul => u.apply(|x: T, y: T| if x == 0.0 || y == 0.0 { 0.0 } else { x * y }),
        Float2::StrongDiv => u.apply(|x: T, y: T| if x == 0.0 { 0.0 } else { x / y }),
        Float2::Along => u.apply(|_: T, _: T| -T::default()),
    };))
}

#[inline]
#[allow(clippy::unnecessary_cast)] // one text for all types
fn int2<U: Binary>(op: Int2, t: ScalarType, u: U) -> Option<U::Out> {
    Some(for_type!(t, T; [I8 I16 I32 I64 U8 U16 U32 U64] => match op {
        Int2::And => u.apply(|x: T, y: T| x & y),
        Int2::Or => u.apply(|x: T, y: T| x | y),
        Int2::Xor => u.apply(|x: T, y: T| x ^ y),
        // The low bits of the amount are the amount modulo the width, also for negative amounts.
        Int2::Shl => u.apply(|x: T, y: T| x.wrapping_shl(y as u32)),
        Int2::Shr => u.apply(|x: T, y: T| x.wrapping_shr(y as u32)),
        Int2::DivEuclid => u.divide("div_euclid", |x: T, y: T| (y != 0).then(|| x.wrapping_div_euclid(y))),
        Int2::RemEuclid => u.divide("rem_euclid", |x: T, y: T| (y != 0).then(|| x.wrapping_rem_euclid(y))),
    };))
}

#[inline]
#[allow(clippy::bool_comparison)] // one text for all types
fn compare<U: Binary>(op: Cmp, t: ScalarType, u: U) -> Option<U::Out> {
    Some(for_type!(t, T; [F64 F32 I8 I16 I32 I64 U8 U16 U32 U64 Bool] => match op {
        Cmp::Lt => u.apply(|x: T, y: T| x < y),
        Cmp::Le => u.apply(|x: T, y: T| x <= y),
        Cmp::Gt => u.apply(|x: T, y: T| x > y),
        Cmp::Ge => u.apply(|x: T, y: T| x >= y),
        Cmp::Eq => u.apply(|x: T, y: T| x == y),
        Cmp::Ne => u.apply(|x: T, y: T| x != y),
    };))
}

#[inline]
fn cast<U: Unary>(to: ScalarType, t: ScalarType, u: U) -> Option<U::Out> {
    // `$number` is the argument as a number of type `$N`.
    macro_rules! convert {
        ($T:ty, $N:ty, $x:ident => $number:expr) => {
            match to {
                ScalarType::Bool => u.apply(|$x: $T| $number != 0 as $N),
                ScalarType::I8 => u.apply(|$x: $T| $number as i8),
                ScalarType::I16 => u.apply(|$x: $T| $number as i16),
                ScalarType::I32 => u.apply(|$x: $T| $number as i32),
                ScalarType::I64 => u.apply(|$x: $T| $number as i64),
                ScalarType::U8 => u.apply(|$x: $T| $number as u8),
                ScalarType::U16 => u.apply(|$x: $T| $number as u16),
                ScalarType::U32 => u.apply(|$x: $T| $number as u32),
                ScalarType::U64 => u.apply(|$x: $T| $number as u64),
                ScalarType::F32 => u.apply(|$x: $T| $number as f32),
                ScalarType::F64 => u.apply(|$x: $T| $number as f64),
            }
        };
    }
    Some(for_type!(t, T;
        [Bool] => convert!(T, u8, x => x as u8);
        [I8 I16 I32 I64 U8 U16 U32 U64 F32 F64] => convert!(T, T, x => x);
    ))
}
