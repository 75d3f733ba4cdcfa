//! The vector registers of processors.

use super::types::bytes;
use accel_core::repr::ScalarType;

/// The vector registers of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vectors {
    /// The bytes of a register: 16, 32 or 64.
    pub bytes: usize,
    /// The number of registers.
    pub registers: usize,
}

impl Default for Vectors {
    /// Those of AVX-512. Compilers for devices split such vectors where necessary.
    fn default() -> Self {
        Vectors { bytes: 64, registers: 32 }
    }
}

impl Vectors {
    /// The number of elements of a vector.
    pub fn lanes(self, t: ScalarType) -> usize {
        self.bytes / bytes(t) as usize
    }
}
