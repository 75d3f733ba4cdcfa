//! Evaluates the primitive functions on scalar values.
//!
//! Each function below matches on the types of its arguments and then on the operation. The interpreter calls one of
//! them for each scalar operation.

use super::op::{Cmp, Float1, Float2, FloatTest, Int1, Int2, Logic, Num1, Num2, Op1, Op2};
use super::special::SpecialFloat;
use super::{Scalar, ScalarType};
use crate::error::{Error, Result};

/// The value of `$body` for an argument of one of the listed types, which is bound to `$x`. The result is wrapped in
/// that type again, or in the type after `=>`.
macro_rules! unary {
    ($op:expr, $s:expr; $([$($t:ident)*] $x:ident => $body:expr);+ $(;)?) => {
        match $s {
            $($(Scalar::$t($x) => Scalar::$t($body),)*)+
            s => return Err(ill_typed($op.name(), &[s])),
        }
    };
    ($op:expr, $s:expr; $([$($t:ident)*] $x:ident => Bool $body:expr);+ $(;)?) => {
        match $s {
            $($(Scalar::$t($x) => Scalar::Bool($body),)*)+
            s => return Err(ill_typed($op.name(), &[s])),
        }
    };
}

/// Like `unary`, for two arguments of the same type.
macro_rules! binary {
    ($op:expr, $a:expr, $b:expr; $([$($t:ident)*] $x:ident $y:ident => $body:expr);+ $(;)?) => {
        match ($a, $b) {
            $($((Scalar::$t($x), Scalar::$t($y)) => Scalar::$t($body),)*)+
            (a, b) => return Err(ill_typed($op.name(), &[a, b])),
        }
    };
    ($op:expr, $a:expr, $b:expr; $([$($t:ident)*] $x:ident $y:ident => Bool $body:expr);+ $(;)?) => {
        match ($a, $b) {
            $($((Scalar::$t($x), Scalar::$t($y)) => Scalar::Bool($body),)*)+
            (a, b) => return Err(ill_typed($op.name(), &[a, b])),
        }
    };
}

/// `$x $op $y` for integers; a zero divisor is an error.
macro_rules! divide {
    ($name:literal, $x:ident . $method:ident ( $y:ident )) => {
        if $y == 0 {
            return Err(Error::DivisionByZero { op: $name, within: String::new() });
        } else {
            $x.$method($y)
        }
    };
}

impl Op1 {
    /// Evaluates the function at `x`, as the documentation of the operation says.
    ///
    /// An argument of a type for which [`Op1::result`] is `None` gives [`Error::Internal`].
    #[inline]
    pub fn eval(self, x: Scalar) -> Result<Scalar> {
        match self {
            Op1::Num(op) => num1(op, x),
            Op1::Float(op) => float1(op, x),
            Op1::Test(op) => float_test(op, x),
            Op1::Int(op) => int1(op, x),
            Op1::Not => Ok(unary!(self, x; [Bool] x => !x)),
            Op1::Cast(to) => Ok(cast(to, x)),
        }
    }
}

impl Op2 {
    /// Evaluates the function at `a` and `b`, as the documentation of the operation says.
    ///
    /// Integer division and remainder by zero give [`Error::DivisionByZero`]. Arguments of different types, or of a
    /// type for which [`Op2::result`] is `None`, give [`Error::Internal`].
    #[inline]
    pub fn eval(self, a: Scalar, b: Scalar) -> Result<Scalar> {
        match self {
            Op2::Num(op) => num2(op, a, b),
            Op2::Float(op) => float2(op, a, b),
            Op2::Int(op) => int2(op, a, b),
            Op2::Cmp(op) => compare(op, a, b),
            Op2::Logic(op) => Ok(binary!(self, a, b; [Bool] a b => match op {
                Logic::And => a && b,
                Logic::Or => a || b,
            })),
        }
    }
}

#[cold]
fn ill_typed(op: &str, args: &[Scalar]) -> Error {
    let types: Vec<_> = args.iter().map(|s| s.ty().to_string()).collect();
    Error::Internal(format!("primitive function `{op}` applied to ({})", types.join(", ")))
}

#[inline]
fn num1(op: Num1, x: Scalar) -> Result<Scalar> {
    Ok(unary!(Op1::Num(op), x;
        [F32 F64] x => match op {
            Num1::Neg => -x,
            Num1::Abs => x.abs(),
            // Rust's `signum` of a zero is 1 with the sign of the zero.
            Num1::Signum => if x == 0.0 { x } else { x.signum() },
        };
        [I8 I16 I32 I64] x => match op {
            Num1::Neg => x.wrapping_neg(),
            Num1::Abs => x.wrapping_abs(),
            Num1::Signum => x.signum(),
        };
        [U8 U16 U32 U64] x => match op {
            Num1::Neg => x.wrapping_neg(),
            Num1::Abs => x,
            Num1::Signum => x.min(1),
        };
    ))
}

#[inline]
fn float1(op: Float1, x: Scalar) -> Result<Scalar> {
    Ok(unary!(Op1::Float(op), x; [F32 F64] x => match op {
        Float1::Sin => x.sin(),
        Float1::Cos => x.cos(),
        Float1::Tan => x.tan(),
        Float1::Asin => x.asin(),
        Float1::Acos => x.acos(),
        Float1::Atan => x.atan(),
        Float1::Sinh => x.sinh(),
        Float1::Cosh => x.cosh(),
        Float1::Tanh => x.tanh(),
        Float1::Asinh => SpecialFloat::inverse_sinh(x),
        Float1::Acosh => SpecialFloat::inverse_cosh(x),
        Float1::Atanh => x.atanh(),
        Float1::Exp => x.exp(),
        Float1::Exp2 => x.exp2(),
        Float1::ExpM1 => x.exp_m1(),
        Float1::Log => x.ln(),
        Float1::Log2 => x.log2(),
        Float1::Log10 => x.log10(),
        Float1::Log1p => x.ln_1p(),
        Float1::Sqrt => x.sqrt(),
        Float1::Cbrt => x.cbrt(),
        Float1::Recip => x.recip(),
        Float1::Erf => SpecialFloat::error_function(x),
        Float1::Erfc => SpecialFloat::error_function_complement(x),
        Float1::LogGamma => SpecialFloat::log_gamma(x),
        Float1::Polygamma(n) => SpecialFloat::polygamma(n, x),
        Float1::Floor => x.floor(),
        Float1::Ceil => x.ceil(),
        Float1::Round => x.round(),
        Float1::Trunc => x.trunc(),
    }))
}

#[inline]
fn float_test(op: FloatTest, x: Scalar) -> Result<Scalar> {
    Ok(unary!(Op1::Test(op), x; [F32 F64] x => Bool match op {
        FloatTest::IsNan => x.is_nan(),
        FloatTest::IsInfinite => x.is_infinite(),
        FloatTest::IsFinite => x.is_finite(),
    }))
}

#[inline]
fn int1(op: Int1, x: Scalar) -> Result<Scalar> {
    Ok(unary!(Op1::Int(op), x; [I8 I16 I32 I64 U8 U16 U32 U64] x => match op {
        Int1::BitNot => !x,
        Int1::CountOnes => x.count_ones() as _,
        Int1::LeadingZeros => x.leading_zeros() as _,
        Int1::TrailingZeros => x.trailing_zeros() as _,
    }))
}

#[inline]
fn num2(op: Num2, a: Scalar, b: Scalar) -> Result<Scalar> {
    Ok(binary!(Op2::Num(op), a, b;
        [F32 F64] x y => match op {
            Num2::Add => x + y,
            Num2::Sub => x - y,
            Num2::Mul => x * y,
            Num2::Div => x / y,
            Num2::Rem => x % y,
            // Rust's `min` and `max` do not specify which zero they return.
            Num2::Min => if y < x || x.is_nan() { y } else { x },
            Num2::Max => if y > x || x.is_nan() { y } else { x },
        };
        [I8 I16 I32 I64 U8 U16 U32 U64] x y => match op {
            Num2::Add => x.wrapping_add(y),
            Num2::Sub => x.wrapping_sub(y),
            Num2::Mul => x.wrapping_mul(y),
            Num2::Div => divide!("/", x.wrapping_div(y)),
            Num2::Rem => divide!("%", x.wrapping_rem(y)),
            Num2::Min => x.min(y),
            Num2::Max => x.max(y),
        };
    ))
}

#[inline]
fn float2(op: Float2, a: Scalar, b: Scalar) -> Result<Scalar> {
    Ok(binary!(Op2::Float(op), a, b; [F32 F64] x y => match op {
        Float2::Pow => x.powf(y),
        Float2::Atan2 => x.atan2(y),
        Float2::Hypot => x.hypot(y),
    }))
}

#[inline]
fn int2(op: Int2, a: Scalar, b: Scalar) -> Result<Scalar> {
    Ok(binary!(Op2::Int(op), a, b; [I8 I16 I32 I64 U8 U16 U32 U64] x y => match op {
        Int2::And => x & y,
        Int2::Or => x | y,
        Int2::Xor => x ^ y,
        // The low bits of the amount are the amount modulo the width, also for negative amounts.
        Int2::Shl => x.wrapping_shl(y as u32),
        Int2::Shr => x.wrapping_shr(y as u32),
        Int2::DivEuclid => divide!("div_euclid", x.wrapping_div_euclid(y)),
        Int2::RemEuclid => divide!("rem_euclid", x.wrapping_rem_euclid(y)),
    }))
}

#[inline]
#[allow(clippy::bool_comparison)] // one text for all types
fn compare(op: Cmp, a: Scalar, b: Scalar) -> Result<Scalar> {
    Ok(binary!(Op2::Cmp(op), a, b; [F64 F32 I8 I16 I32 I64 U8 U16 U32 U64 Bool] x y => Bool match op {
        Cmp::Lt => x < y,
        Cmp::Le => x <= y,
        Cmp::Gt => x > y,
        Cmp::Ge => x >= y,
        Cmp::Eq => x == y,
        Cmp::Ne => x != y,
    }))
}

#[inline]
fn cast(to: ScalarType, x: Scalar) -> Scalar {
    macro_rules! convert {
        ($x:expr, $zero:expr) => {
            match to {
                ScalarType::Bool => Scalar::Bool($x != $zero),
                ScalarType::I8 => Scalar::I8($x as i8),
                ScalarType::I16 => Scalar::I16($x as i16),
                ScalarType::I32 => Scalar::I32($x as i32),
                ScalarType::I64 => Scalar::I64($x as i64),
                ScalarType::U8 => Scalar::U8($x as u8),
                ScalarType::U16 => Scalar::U16($x as u16),
                ScalarType::U32 => Scalar::U32($x as u32),
                ScalarType::U64 => Scalar::U64($x as u64),
                ScalarType::F32 => Scalar::F32($x as f32),
                ScalarType::F64 => Scalar::F64($x as f64),
            }
        };
    }
    match x {
        Scalar::Bool(x) => convert!(x as u8, 0),
        Scalar::I8(x) => convert!(x, 0),
        Scalar::I16(x) => convert!(x, 0),
        Scalar::I32(x) => convert!(x, 0),
        Scalar::I64(x) => convert!(x, 0),
        Scalar::U8(x) => convert!(x, 0),
        Scalar::U16(x) => convert!(x, 0),
        Scalar::U32(x) => convert!(x, 0),
        Scalar::U64(x) => convert!(x, 0),
        Scalar::F32(x) => convert!(x, 0.0),
        Scalar::F64(x) => convert!(x, 0.0),
    }
}
