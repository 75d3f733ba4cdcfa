//! Explicit vectors in both dialects.

use super::writer::Writer;
use crate::{c, opencl};
use accel_core::repr::ScalarType;

/// A vector of zeros.
pub fn zero(w: &Writer, t: ScalarType) -> String {
    w.dialect().zeros(t)
}

/// Declares vectors of numbers, vectors of eight numbers, their fused multiply-add, and the sums of eight vectors at
/// once.
pub fn declare(w: &mut Writer, t: ScalarType) {
    match w.dialect().has_gcc_vectors() {
        true => c::vectors::declare(w.declarations, t),
        false => opencl::vectors::declare(w.declarations, t),
    }
}

/// Adds four of the eight `sums`, the first or the last four, to adjacent numbers.
pub fn add_half(w: &mut Writer, t: ScalarType, to: &str, half: usize) {
    let addition = match w.dialect().has_gcc_vectors() {
        true => c::vectors::add_half(w.declarations, t, to, half),
        false => opencl::vectors::add_half(to, half),
    };
    w.line(addition);
}
