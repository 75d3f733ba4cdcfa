//! Scalar types: their sizes, and the unsigned types in which integers wrap.

use accel_core::repr::ScalarType;

/// The size of a scalar in bits.
pub fn width(t: ScalarType) -> u32 {
    match t {
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => 8,
        ScalarType::I16 | ScalarType::U16 => 16,
        ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 32,
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 64,
    }
}

/// The size of a scalar in bytes.
pub fn bytes(t: ScalarType) -> u32 {
    width(t) / 8
}

/// The type of a scalar in memory.
///
/// NOTE [Booleans in memory]: C compilers use vectors for bytes, but not for `bool`: gcc 12 takes 270 µs for the conjunction of
/// a million booleans that it loads as `bool`, and 22 µs if it loads them as `u8` and converts them. Both have one byte.
pub fn in_memory(t: ScalarType) -> ScalarType {
    if t == ScalarType::Bool { ScalarType::U8 } else { t }
}

/// The type of a scalar in the working memory of a strip, to which it is copied from an array: see NOTE [Bytes beside numbers].
pub fn in_staging(t: ScalarType) -> ScalarType {
    match t {
        ScalarType::Bool | ScalarType::U8 => ScalarType::U32,
        ScalarType::I8 => ScalarType::I32,
        t => t,
    }
}

pub fn is_signed(t: ScalarType) -> bool {
    matches!(t, ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64)
}

/// The unsigned type of the same size.
pub fn unsigned(t: ScalarType) -> String {
    format!("u{}", width(t))
}

/// The unsigned type in which signed integers of a type wrap: NOTE [Integers in OpenCL C].
pub fn wrapping(t: ScalarType) -> &'static str {
    if width(t) == 64 { "u64" } else { "u32" }
}

// NOTE [Integers in OpenCL C]: OpenCL has no `-fwrapv`. So arithmetic that can leave the range of a signed type is done
// in an unsigned type of at least 32 bits (smaller ones become `int`), and the conversion of the result to its own type
// makes it wrap.
