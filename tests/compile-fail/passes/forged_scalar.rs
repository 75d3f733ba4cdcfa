//! Mistake: a foreign crate has scalars of its own.
use accel_core::repr::scalar::ScalarElt;
use accel_core::repr::{Scalar, ScalarType};

#[derive(Clone, Copy, PartialEq, Debug)]
struct Mine;

impl std::fmt::Display for Mine {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

impl ScalarElt for Mine {
    const SCALAR: ScalarType = ScalarType::F64;
    fn to_scalar(self) -> Scalar {
        Scalar::I64(1)
    }
    fn from_scalar(_: Scalar) -> Option<Self> {
        None
    }
}

fn main() {}
