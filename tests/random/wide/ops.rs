//! The primitive functions, with their names in files and in Rust.

use accel::repr::op::*;

/// Functions of one argument in files.
pub mod one {
    use super::*;
    use serde::{Deserialize, Deserializer, Serializer};
    pub fn serialize<S: Serializer>(op: &Op1, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&op.to_string())
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Op1, D::Error> {
        let name = String::deserialize(d)?;
        Op1::all()
            .find(|op| op.to_string() == name)
            .ok_or_else(|| serde::de::Error::custom(format!("no function {name}")))
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
        Op2::all()
            .find(|op| op.to_string() == name)
            .ok_or_else(|| serde::de::Error::custom(format!("no function {name}")))
    }
}

/// Whether the results of backends can differ in the last places.
pub fn is_inexact(op: Op1) -> bool {
    use Float1::*;
    matches!(op, Op1::Float(f) if !matches!(f, Sqrt | Recip | Detach | Floor | Ceil | Round | Trunc))
}
