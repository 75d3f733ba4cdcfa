//! The primitive functions: their names and types. [`super::eval`] evaluates them.
//!
//! Integers wrap; integer division and remainder by zero is an error; shifts use the amount modulo the width.
//! Floating-point arithmetic is IEEE. The typed side is [`crate::ast::prim`].

use super::{Scalar, ScalarType};
use std::fmt;

/// The table of primitive functions. For every class it generates the enumeration, `ALL` (every function of the class)
/// and `name` (the name in printed programs). The parser of kernel programs, the generators of random programs and the
/// tests use `ALL`. Every place that gives functions a meaning matches without a wildcard, so rustc reports the places
/// that a new line needs.
macro_rules! primitives {
    ($(
        $(#[$about:meta])*
        $class:ident { $($(#[$doc:meta])* $function:ident = $name:literal,)* }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum $class {
            $($(#[$doc])* $function,)*
        }

        impl $class {
            /// All functions of the class.
            pub const ALL: &[$class] = &[$($class::$function),*];

            /// The name in printed programs.
            pub fn name(self) -> &'static str {
                match self {
                    $($class::$function => $name,)*
                }
            }
        }
    )*};
}

primitives! {
    /// Functions of one number, with a result of the same type.
    Num1 {
        /// `-x`
        Neg = "neg",
        /// `|x|`
        Abs = "abs",
        /// -1, 0 or 1 (and NaN for NaN, `x` for a floating-point zero)
        Signum = "signum",
    }

    /// Predicates of one floating-point number.
    FloatTest {
        IsNan = "is_nan",
        IsInfinite = "is_infinite",
        IsFinite = "is_finite",
    }

    /// Functions of one integer, with a result of the same type.
    Int1 {
        BitNot = "bit_not",
        CountOnes = "count_ones",
        LeadingZeros = "leading_zeros",
        TrailingZeros = "trailing_zeros",
    }

    /// Functions of two numbers of one type, with a result of the same type.
    Num2 {
        /// `a + b`
        Add = "+",
        /// `a - b`
        Sub = "-",
        /// `a * b`
        Mul = "*",
        /// `a / b`, truncating for integers
        Div = "/",
        /// The remainder of `Div`, with the sign of `a`
        Rem = "%",
        /// The smaller number; the first one if they are equal; the other one if one is NaN
        Min = "min",
        /// The larger number; the first one if they are equal; the other one if one is NaN
        Max = "max",
    }

    /// Functions of two floating-point numbers.
    Float2 {
        Pow = "pow",
        Atan2 = "atan2",
        Hypot = "hypot",
        /// `a * b`, and 0 where one of them is 0, whatever the other one is (NOTE [Strong zeros] in `accel-ad`)
        StrongMul = "strong_mul",
        /// `a / b`, and 0 where `a` is 0, whatever `b` is
        StrongDiv = "strong_div",
        /// -0, with the derivative `b` by `a`: the derivative of what it is added to
        Along = "along",
    }

    /// Functions of two integers of one type, with a result of the same type.
    Int2 {
        And = "&",
        Or = "|",
        Xor = "^",
        Shl = "<<",
        Shr = ">>",
        /// The quotient rounded so that the remainder is not negative, like Rust's `div_euclid`
        DivEuclid = "div_euclid",
        /// The remainder of `DivEuclid`
        RemEuclid = "rem_euclid",
    }

    /// Comparisons. `false` is less than `true`; with NaN, all comparisons except `Ne` are false.
    Cmp {
        Lt = "<",
        Le = "<=",
        Gt = ">",
        Ge = ">=",
        Eq = "==",
        Ne = "!=",
    }

    /// Functions of two booleans; both arguments are always evaluated.
    Logic {
        And = "&&",
        Or = "||",
    }
}

/// How backends compute a function of one floating-point number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Float1Class {
    /// A function of the mathematical library with the same name. It is slow for a single number, and has versions for
    /// vectors.
    Library,
    /// A function of the mathematical library that is one instruction of most processors.
    Instruction,
    /// Each backend computes it in its own way.
    Own(OwnFloat1),
}

/// The functions of one floating-point number that each backend computes in its own way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum OwnFloat1 {
    Recip,
    Sech,
    Detach,
    NormalCdf,
    ErfInv,
    LogGamma,
    /// As [`Float1::Family`].
    Family(Family, u8),
}

/// The families of functions of one floating-point number. Each function has an order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// The derivative of order n + 1 of `lgamma`: digamma for n = 0, trigamma for n = 1.
    Polygamma,
    /// The Bessel function of the first kind of order n.
    BesselJ,
    /// The modified Bessel functions, divided by e^|x|: `i0e` for n = 0, `i1e` for n = 1. For n > 1, it is the absolute value of the
    /// derivative of order n - 1 of `i0e`.
    BesselI,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 3] = [Family::Polygamma, Family::BesselJ, Family::BesselI];

    /// The name of a function without a name of its own, which the order follows.
    pub fn name(self) -> &'static str {
        match self {
            Family::Polygamma => "polygamma",
            Family::BesselJ => "bessel_j",
            Family::BesselI => "bessel_i",
        }
    }

    /// The names of the first two functions.
    fn first(self) -> [&'static str; 2] {
        match self {
            Family::Polygamma => ["digamma", "trigamma"],
            Family::BesselJ => ["j0", "j1"],
            Family::BesselI => ["i0e", "i1e"],
        }
    }
}

/// The table of functions of one floating-point number. In addition to what [`primitives`] generates, `class` says how
/// backends compute them.
macro_rules! float_functions {
    ($($(#[$doc:meta])* $function:ident = $name:literal, $class:ident $(($own:ident))?;)*) => {
        /// Functions of one floating-point number, with a result of the same type.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum Float1 {
            $($(#[$doc])* $function,)*
            /// The function of this order.
            Family(Family, u8),
        }

        impl Float1 {
            /// All functions; of families, those that have a name.
            pub const ALL: &[Float1] = &[
                $(Float1::$function,)*
                Float1::Family(Family::Polygamma, 0), Float1::Family(Family::Polygamma, 1),
                Float1::Family(Family::BesselJ, 0), Float1::Family(Family::BesselJ, 1),
                Float1::Family(Family::BesselI, 0), Float1::Family(Family::BesselI, 1),
            ];

            /// The name in printed programs. Only the `Display` of [`Op1`] shows orders above 1.
            pub fn name(self) -> &'static str {
                match self {
                    $(Float1::$function => $name,)*
                    Float1::Family(family, n) => family.first().get(n as usize).copied().unwrap_or(family.name()),
                }
            }

            /// How backends compute the function.
            pub fn class(self) -> Float1Class {
                match self {
                    $(Float1::$function => Float1Class::$class $((OwnFloat1::$own))?,)*
                    Float1::Family(family, n) => Float1Class::Own(OwnFloat1::Family(family, n)),
                }
            }
        }
    };
}

float_functions! {
    Sin = "sin", Library;
    Cos = "cos", Library;
    Tan = "tan", Library;
    Asin = "asin", Library;
    Acos = "acos", Library;
    Atan = "atan", Library;
    Sinh = "sinh", Library;
    Cosh = "cosh", Library;
    Tanh = "tanh", Library;
    /// `1 / cosh(x)`, whose square is the derivative of `tanh`
    Sech = "sech", Own(Sech);
    Asinh = "asinh", Library;
    Acosh = "acosh", Library;
    Atanh = "atanh", Library;
    Exp = "exp", Library;
    Exp2 = "exp2", Library;
    ExpM1 = "expm1", Library;
    Log = "log", Library;
    Log2 = "log2", Library;
    Log10 = "log10", Library;
    Log1p = "log1p", Library;
    Sqrt = "sqrt", Instruction;
    Cbrt = "cbrt", Library;
    Recip = "recip", Own(Recip);
    Erf = "erf", Library;
    Erfc = "erfc", Library;
    /// The inverse of `erf`
    ErfInv = "erfinv", Own(ErfInv);
    /// The distribution function of the standard normal distribution
    NormalCdf = "normal_cdf", Own(NormalCdf);
    LogGamma = "lgamma", Own(LogGamma);
    /// The argument, as a constant: the derivative is 0
    Detach = "detach", Own(Detach);
    Floor = "floor", Instruction;
    Ceil = "ceil", Instruction;
    Round = "round", Instruction;
    Trunc = "trunc", Instruction;
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
    /// The number with the same bits: `u32` and `u64` of `f32` and `f64`, and back.
    Bits,
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
    /// Every function of one argument; of families, those that have a name.
    pub fn all() -> impl Iterator<Item = Op1> {
        let num = Num1::ALL.iter().map(|op| Op1::Num(*op));
        let float = Float1::ALL.iter().map(|op| Op1::Float(*op));
        let test = FloatTest::ALL.iter().map(|op| Op1::Test(*op));
        let int = Int1::ALL.iter().map(|op| Op1::Int(*op));
        num.chain(float).chain(test).chain(int).chain([Op1::Not, Op1::Bits]).chain(ScalarType::ALL.map(Op1::Cast))
    }

    /// The type of the result for an argument of type `t`; `None` if the function is not defined on `t`.
    pub fn result(self, t: ScalarType) -> Option<ScalarType> {
        match self {
            Op1::Num(_) => t.is_num().then_some(t),
            Op1::Float(_) => t.is_float().then_some(t),
            Op1::Test(_) => t.is_float().then_some(ScalarType::Bool),
            Op1::Int(_) => t.is_integral().then_some(t),
            Op1::Not => (t == ScalarType::Bool).then_some(t),
            Op1::Cast(to) => Some(to),
            Op1::Bits => match t {
                ScalarType::F32 => Some(ScalarType::U32),
                ScalarType::F64 => Some(ScalarType::U64),
                ScalarType::U32 => Some(ScalarType::F32),
                ScalarType::U64 => Some(ScalarType::F64),
                _ => None,
            },
        }
    }

    /// The name in printed programs, such as `sin` or `as f64`. Only `Display` shows orders above 1.
    pub fn name(self) -> &'static str {
        match self {
            Op1::Num(op) => op.name(),
            Op1::Float(op) => op.name(),
            Op1::Test(op) => op.name(),
            Op1::Int(op) => op.name(),
            Op1::Not => "not",
            Op1::Bits => "bits",
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

impl Float2 {
    /// What a product or quotient with strong zeros is without them.
    pub fn without_strong_zeros(self) -> Option<Num2> {
        match self {
            Float2::StrongMul => Some(Num2::Mul),
            Float2::StrongDiv => Some(Num2::Div),
            Float2::Pow | Float2::Atan2 | Float2::Hypot | Float2::Along => None,
        }
    }

    /// The product or quotient that this one is up to the sign of a zero, because of operands that are constants.
    pub fn ordinary(self, a: Option<Scalar>, b: Option<Scalar>) -> Option<Num2> {
        let is = |x: Option<Scalar>, test: fn(f64) -> bool| x.and_then(Scalar::float).is_some_and(test);
        let is_finite = |x| is(x, f64::is_finite);
        let makes_none = match self {
            Float2::StrongMul => is_finite(a) || is_finite(b),
            Float2::StrongDiv => is(a, |a| a != 0.0) || is(b, |b| b != 0.0 && !b.is_nan()),
            Float2::Pow | Float2::Atan2 | Float2::Hypot | Float2::Along => false,
        };
        self.without_strong_zeros().filter(|_| makes_none)
    }

    /// Whether a product or quotient with strong zeros is 0 because of an operand.
    pub fn is_strong_zero(self, a: Option<Scalar>, b: Option<Scalar>) -> bool {
        let is_zero = |x: Option<Scalar>| x.and_then(Scalar::float) == Some(0.0);
        self.without_strong_zeros().is_some() && (is_zero(a) || self == Float2::StrongMul && is_zero(b))
    }
}

impl Op2 {
    /// Every function of two arguments.
    pub fn all() -> impl Iterator<Item = Op2> {
        let num = Num2::ALL.iter().map(|op| Op2::Num(*op));
        let float = Float2::ALL.iter().map(|op| Op2::Float(*op));
        let int = Int2::ALL.iter().map(|op| Op2::Int(*op));
        let cmp = Cmp::ALL.iter().map(|op| Op2::Cmp(*op));
        let logic = Logic::ALL.iter().map(|op| Op2::Logic(*op));
        num.chain(float).chain(int).chain(cmp).chain(logic)
    }

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
            Op2::Num(op) => op.name(),
            Op2::Float(op) => op.name(),
            Op2::Int(op) => op.name(),
            Op2::Cmp(op) => op.name(),
            Op2::Logic(op) => op.name(),
        }
    }
}

impl fmt::Display for Op1 {
    /// The name, with an order above 1: `polygamma(3)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op1::Float(Float1::Family(family, n @ 2..)) => write!(f, "{}({n})", family.name()),
            _ => f.write_str(self.name()),
        }
    }
}

impl fmt::Display for Op2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
