//! The primitive functions: their names and types. [`super::eval`] evaluates them.
//!
//! Integers wrap; integer division and remainder by zero is an error; shifts use the amount modulo the width.
//! Floating-point arithmetic is IEEE. The typed side is [`crate::ast::prim`].

use super::ScalarType;
use std::fmt;

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

/// Predicates of one floating-point number.
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
    /// The smaller number; the first one if they are equal; the other one if one is NaN
    Min,
    /// The larger number; the first one if they are equal; the other one if one is NaN
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
    /// The quotient rounded so that the remainder is not negative, like Rust's `div_euclid`
    DivEuclid,
    /// The remainder of `DivEuclid`
    RemEuclid,
}

/// Comparisons. `false` is less than `true`; with NaN, all comparisons but `Ne` are false.
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

/// Functions of two booleans; both arguments are always evaluated.
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
    /// Conversion like Rust's `as`: floating-point numbers to integers saturate, integers to integers wrap; to `bool`
    /// it is `x != 0`.
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

impl Op1 {
    /// The type of the result for an argument of type `t`; `None` if the function is not defined on `t`.
    pub fn result(self, t: ScalarType) -> Option<ScalarType> {
        match self {
            Op1::Num(_) => t.is_num().then_some(t),
            Op1::Float(_) => t.is_float().then_some(t),
            Op1::Test(_) => t.is_float().then_some(ScalarType::Bool),
            Op1::Int(_) => t.is_integral().then_some(t),
            Op1::Not => (t == ScalarType::Bool).then_some(t),
            Op1::Cast(to) => Some(to),
        }
    }

    /// The name in printed programs, such as `sin` or `as f64`. Only `Display` shows the order of a polygamma function.
    pub fn name(self) -> &'static str {
        match self {
            Op1::Num(op) => match op {
                Num1::Neg => "neg",
                Num1::Abs => "abs",
                Num1::Signum => "signum",
            },
            Op1::Float(op) => match op {
                Float1::Sin => "sin",
                Float1::Cos => "cos",
                Float1::Tan => "tan",
                Float1::Asin => "asin",
                Float1::Acos => "acos",
                Float1::Atan => "atan",
                Float1::Sinh => "sinh",
                Float1::Cosh => "cosh",
                Float1::Tanh => "tanh",
                Float1::Asinh => "asinh",
                Float1::Acosh => "acosh",
                Float1::Atanh => "atanh",
                Float1::Exp => "exp",
                Float1::Exp2 => "exp2",
                Float1::ExpM1 => "expm1",
                Float1::Log => "log",
                Float1::Log2 => "log2",
                Float1::Log10 => "log10",
                Float1::Log1p => "log1p",
                Float1::Sqrt => "sqrt",
                Float1::Cbrt => "cbrt",
                Float1::Recip => "recip",
                Float1::Erf => "erf",
                Float1::Erfc => "erfc",
                Float1::LogGamma => "lgamma",
                Float1::Polygamma(0) => "digamma",
                Float1::Polygamma(1) => "trigamma",
                Float1::Polygamma(_) => "polygamma",
                Float1::Floor => "floor",
                Float1::Ceil => "ceil",
                Float1::Round => "round",
                Float1::Trunc => "trunc",
            },
            Op1::Test(op) => match op {
                FloatTest::IsNan => "is_nan",
                FloatTest::IsInfinite => "is_infinite",
                FloatTest::IsFinite => "is_finite",
            },
            Op1::Int(op) => match op {
                Int1::BitNot => "bit_not",
                Int1::CountOnes => "count_ones",
                Int1::LeadingZeros => "leading_zeros",
                Int1::TrailingZeros => "trailing_zeros",
            },
            Op1::Not => "not",
            Op1::Cast(t) => match t {
                ScalarType::Bool => "as bool",
                ScalarType::I8 => "as i8",
                ScalarType::I16 => "as i16",
                ScalarType::I32 => "as i32",
                ScalarType::I64 => "as i64",
                ScalarType::U8 => "as u8",
                ScalarType::U16 => "as u16",
                ScalarType::U32 => "as u32",
                ScalarType::U64 => "as u64",
                ScalarType::F32 => "as f32",
                ScalarType::F64 => "as f64",
            },
        }
    }
}

impl Op2 {
    /// The type of the result for two arguments of type `t`; `None` if the function is not defined on `t`.
    pub fn result(self, t: ScalarType) -> Option<ScalarType> {
        match self {
            Op2::Num(_) => t.is_num().then_some(t),
            Op2::Float(_) => t.is_float().then_some(t),
            Op2::Int(_) => t.is_integral().then_some(t),
            Op2::Cmp(_) => Some(ScalarType::Bool),
            Op2::Logic(_) => (t == ScalarType::Bool).then_some(t),
        }
    }

    /// The name in printed programs: an operator such as `+`, or a function name such as `min`.
    pub fn name(self) -> &'static str {
        match self {
            Op2::Num(op) => match op {
                Num2::Add => "+",
                Num2::Sub => "-",
                Num2::Mul => "*",
                Num2::Div => "/",
                Num2::Rem => "%",
                Num2::Min => "min",
                Num2::Max => "max",
            },
            Op2::Float(op) => match op {
                Float2::Pow => "pow",
                Float2::Atan2 => "atan2",
                Float2::Hypot => "hypot",
            },
            Op2::Int(op) => match op {
                Int2::And => "&",
                Int2::Or => "|",
                Int2::Xor => "^",
                Int2::Shl => "<<",
                Int2::Shr => ">>",
                Int2::DivEuclid => "div_euclid",
                Int2::RemEuclid => "rem_euclid",
            },
            Op2::Cmp(op) => match op {
                Cmp::Lt => "<",
                Cmp::Le => "<=",
                Cmp::Gt => ">",
                Cmp::Ge => ">=",
                Cmp::Eq => "==",
                Cmp::Ne => "!=",
            },
            Op2::Logic(op) => match op {
                Logic::And => "&&",
                Logic::Or => "||",
            },
        }
    }
}

impl fmt::Display for Op1 {
    /// The name, with the order of a polygamma function above trigamma: `polygamma(3)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op1::Float(Float1::Polygamma(n @ 2..)) => write!(f, "polygamma({n})"),
            _ => f.write_str(self.name()),
        }
    }
}

impl fmt::Display for Op2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
