//! The primitive functions, with their names in files and in Rust.

use super::types::Prim;
use accel::repr::op::*;

pub const FLOAT1: [Float1; 31] = {
    use Float1::*;
    [
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
        Polygamma(0),
        Polygamma(1),
        Floor,
        Ceil,
        Round,
        Trunc,
    ]
};
pub const NUM1: [Num1; 3] = [Num1::Neg, Num1::Abs, Num1::Signum];
pub const INT1: [Int1; 4] = [Int1::BitNot, Int1::CountOnes, Int1::LeadingZeros, Int1::TrailingZeros];
pub const TESTS: [FloatTest; 3] = [FloatTest::IsNan, FloatTest::IsInfinite, FloatTest::IsFinite];
pub const NUM2: [Num2; 7] = [Num2::Add, Num2::Sub, Num2::Mul, Num2::Div, Num2::Rem, Num2::Min, Num2::Max];
pub const FLOAT2: [Float2; 3] = [Float2::Pow, Float2::Atan2, Float2::Hypot];
pub const INT2: [Int2; 7] = [Int2::And, Int2::Or, Int2::Xor, Int2::Shl, Int2::Shr, Int2::DivEuclid, Int2::RemEuclid];
pub const CMP: [Cmp; 6] = [Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge, Cmp::Eq, Cmp::Ne];
pub const LOGIC: [Logic; 2] = [Logic::And, Logic::Or];

fn all1() -> impl Iterator<Item = Op1> {
    let numbers = NUM1.map(Op1::Num).into_iter().chain(FLOAT1.map(Op1::Float)).chain(INT1.map(Op1::Int));
    numbers.chain(TESTS.map(Op1::Test)).chain([Op1::Not]).chain(Prim::ALL.map(|p| Op1::Cast(p.ty())))
}

fn all2() -> impl Iterator<Item = Op2> {
    let numbers = NUM2.map(Op2::Num).into_iter().chain(FLOAT2.map(Op2::Float)).chain(INT2.map(Op2::Int));
    numbers.chain(CMP.map(Op2::Cmp)).chain(LOGIC.map(Op2::Logic))
}

/// Functions of one argument in files.
pub mod one {
    use super::*;
    use serde::{Deserialize, Deserializer, Serializer};
    pub fn serialize<S: Serializer>(op: &Op1, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&op.to_string())
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Op1, D::Error> {
        let name = String::deserialize(d)?;
        all1().find(|op| op.to_string() == name).ok_or_else(|| serde::de::Error::custom(format!("no function {name}")))
    }
}

/// Functions of two arguments in files.
pub mod two {
    use super::*;
    use serde::{Deserialize, Deserializer, Serializer};
    pub fn serialize<S: Serializer>(op: &Op2, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&op.to_string())
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Op2, D::Error> {
        let name = String::deserialize(d)?;
        all2().find(|op| op.to_string() == name).ok_or_else(|| serde::de::Error::custom(format!("no function {name}")))
    }
}

/// Whether backends may compute another number in the last places.
pub fn is_inexact(op: Op1) -> bool {
    use Float1::*;
    matches!(op, Op1::Float(f) if !matches!(f, Sqrt | Recip | Floor | Ceil | Round | Trunc))
}
