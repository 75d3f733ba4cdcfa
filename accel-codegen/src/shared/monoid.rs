//! Operators with a name (sum, product, minimum, maximum): their primitives and neutral elements.

use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::Known;

/// How many partial results a reduction with a well-known operator keeps: four of the largest vector registers, so that it does
/// not wait for the result of one addition before the next.
pub fn lane_count(t: ScalarType) -> usize {
    match t {
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 32,
        _ => 64,
    }
}

pub fn operator(known: Known) -> Op2 {
    Op2::Num(match known {
        Known::Sum => Num2::Add,
        Known::Product => Num2::Mul,
        Known::Min => Num2::Min,
        Known::Max => Num2::Max,
    })
}

/// What a well-known operator leaves the other argument as it is with.
pub fn neutral(known: Known, t: ScalarType) -> Scalar {
    match (known, t) {
        (Known::Sum, ScalarType::F32) => Scalar::F32(-0.0),
        (Known::Sum, ScalarType::F64) => Scalar::F64(-0.0),
        (Known::Sum, _) => t.zero(),
        (Known::Product, _) => t.one(),
        // The minimum and the maximum of NaN and a number are the number.
        (Known::Min | Known::Max, ScalarType::F32) => Scalar::F32(f32::NAN),
        (Known::Min | Known::Max, ScalarType::F64) => Scalar::F64(f64::NAN),
        (Known::Min, _) => t.greatest(),
        (Known::Max, _) => t.least(),
    }
}
