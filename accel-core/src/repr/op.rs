//! The primitive functions: their names, and what they compute.
//!
//! Integers wrap; integer division and remainder by zero is an error; shifts use the amount modulo the width.
//! Floating-point arithmetic is IEEE. The typed side is [`crate::ast::prim`].

use super::{Scalar, ScalarType};
use crate::error::Error;

/// Functions of one number, with a result of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Num1 {
    /// `-x`
    Neg,
    /// `|x|`
    Abs,
    /// -1, 0 or 1 (and NaN for NaN, `x` for a floating-point zero)
    Signum,
}

/// Functions of one floating-point number, with a result of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Float1 {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Exp2,
    ExpM1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sqrt,
    Cbrt,
    Recip,
    Erf,
    Erfc,
    LogGamma,
    /// The derivative of order n + 1 of `lgamma`: digamma for n = 0, trigamma for n = 1.
    Polygamma(u8),
    Floor,
    Ceil,
    Round,
    Trunc,
}

/// Questions about one floating-point number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FloatTest {
    IsNan,
    IsInfinite,
    IsFinite,
}

/// Functions of one integer, with a result of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Int1 {
    BitNot,
    CountOnes,
    LeadingZeros,
    TrailingZeros,
}

/// Functions of two numbers of one type, with a result of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Num2 {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`, truncating for integers
    Div,
    /// The remainder of `Div`, with the sign of `a`
    Rem,
    /// The smaller; the first if they are equal; the other one if one is NaN
    Min,
    /// The larger; the first if they are equal; the other one if one is NaN
    Max,
}

/// Functions of two floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Float2 {
    Pow,
    Atan2,
    Hypot,
}

/// Functions of two integers of one type, with a result of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Int2 {
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// Division rounding so that the remainder is not negative, as Rust's `div_euclid`
    DivEuclid,
    /// The remainder of `DivEuclid`
    RemEuclid,
}

/// Comparisons; `false < true`; with NaN all but `Ne` are false.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Cmp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// Functions of two booleans; both are evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Logic {
    And,
    Or,
}

/// A primitive function of one argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Op1 {
    Num(Num1),
    Float(Float1),
    Test(FloatTest),
    Int(Int1),
    Not,
    /// Conversion as Rust's `as`: saturating from floats to integers, wrapping between integers; `x != 0` to bool.
    Cast(ScalarType),
}

/// A primitive function of two arguments of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Op2 {
    Num(Num2),
    Float(Float2),
    Int(Int2),
    Cmp(Cmp),
    Logic(Logic),
}
