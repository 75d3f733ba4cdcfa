//! Finds functions, types and constants by their names in the textual form.

use accel_core::repr::op::{Family, Op1, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

pub fn op1(name: &str) -> Option<Op1> {
    Op1::all().find(|op| op.name() == name)
}

pub fn op2(name: &str) -> Option<Op2> {
    Op2::all().find(|op| op.name() == name)
}

pub fn cast(t: ScalarType) -> Op1 {
    Op1::Cast(t)
}

pub fn family(name: &str) -> Option<Family> {
    Family::ALL.into_iter().find(|family| family.name() == name)
}

pub fn scalar_type(name: &str) -> Option<ScalarType> {
    ScalarType::ALL.into_iter().find(|t| t.to_string() == name)
}

/// The constant that a text stands for. Its type is part of the text, unless it is `f64`, `i64` or `bool`.
pub fn constant(text: &str) -> Option<Scalar> {
    let typed = ScalarType::ALL.into_iter().find_map(|t| Some((t, text.strip_suffix(&t.to_string())?)));
    match typed {
        Some((t, text)) => constant_of(t, text.strip_suffix('_').unwrap_or(text)),
        None => [ScalarType::Bool, ScalarType::I64, ScalarType::F64].into_iter().find_map(|t| constant_of(t, text)),
    }
}

/// The constant of a known type, which the text does not repeat.
pub fn constant_of(t: ScalarType, text: &str) -> Option<Scalar> {
    let bits = text.strip_prefix("nan_0x").and_then(|bits| u64::from_str_radix(bits, 16).ok());
    Some(match (t, bits) {
        (ScalarType::F32, Some(bits)) => Scalar::F32(f32::from_bits(bits.try_into().ok()?)),
        (ScalarType::F64, Some(bits)) => Scalar::F64(f64::from_bits(bits)),
        (ScalarType::F32, None) if text == "nan" => Scalar::F32(f32::NAN),
        (ScalarType::F64, None) if text == "nan" => Scalar::F64(f64::NAN),
        (ScalarType::F32, None) => Scalar::F32(text.parse().ok()?),
        (ScalarType::F64, None) => Scalar::F64(text.parse().ok()?),
        (ScalarType::Bool, _) => Scalar::Bool(text.parse().ok()?),
        (ScalarType::I8, _) => Scalar::I8(text.parse().ok()?),
        (ScalarType::I16, _) => Scalar::I16(text.parse().ok()?),
        (ScalarType::I32, _) => Scalar::I32(text.parse().ok()?),
        (ScalarType::I64, _) => Scalar::I64(text.parse().ok()?),
        (ScalarType::U8, _) => Scalar::U8(text.parse().ok()?),
        (ScalarType::U16, _) => Scalar::U16(text.parse().ok()?),
        (ScalarType::U32, _) => Scalar::U32(text.parse().ok()?),
        (ScalarType::U64, _) => Scalar::U64(text.parse().ok()?),
    })
}

/// Turns a name into a `&'static str`, as the names of operations in the source are. Every name is stored once.
pub fn intern(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    // A panic cannot leave the set in an inconsistent state.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = names.get(name) {
        return kept;
    }
    let kept: &'static str = Box::leak(name.into());
    names.insert(kept);
    kept
}
