//! Additions to the elements of sums.
//!
//! NOTE [Additions at the same time]: in C, the memory of a sum belongs to one thread. On OpenCL devices, several
//! work-items add to the same sum: a number of 32 or 64 bits by an atomic operation, the device's own for integers, and
//! otherwise by compare-and-swap, repeated until no other item has changed the number meanwhile. So the order of
//! additions is undefined. Where an item has copies of the sums, it adds to these alone. For other numbers, and for 64 bits on devices without such operations, one item executes the
//! whole statement.

use super::dialect::Dialect;
use super::primitives;
use super::types::bytes;
use super::writer::Writer;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Num2, Op2};

/// Whether work-items can add to a number of this type at the same time.
pub fn is_atomic(t: ScalarType, dialect: Dialect) -> bool {
    bytes(t) == 4 || bytes(t) == 8 && dialect.has_atomics_64()
}

impl Writer<'_> {
    /// Adds `x` to a number in memory.
    pub fn add_to_sum(&mut self, place: &str, t: ScalarType, x: &str) {
        if !self.is_opencl() {
            return self.line(format!("{place} += {x};"));
        }
        if self.alone || !is_atomic(t, self.dialect()) {
            let sum = primitives::op2(self.declarations, Op2::Num(Num2::Add), t, place, x);
            return self.line(format!("{place} = ({t})({sum});"));
        }
        let prefix = if bytes(t) == 4 { "atomic" } else { "atom" };
        self.atomics(t);
        if t.is_integral() {
            return self.line(format!("{prefix}_add((volatile global {t} *)&{place}, {x});"));
        }
        let (word, float) = if t == ScalarType::F32 { ("uint", "float") } else { ("ulong", "double") };
        self.declarations.declare_once(&format!("add_to_{t}"), || {
            format!(
                "static void add_to_{t}(global {t} *place, {t} x) {{\n    \
                 volatile global {word} *const cell = (volatile global {word} *)place;\n    \
                 for ({word} seen = *cell;;) {{\n        \
                 const {word} found = {prefix}_cmpxchg(cell, seen, as_{word}(as_{float}(seen) + x));\n        \
                 if (found == seen) break;\n        \
                 seen = found;\n    }}\n}}"
            )
        });
        self.line(format!("add_to_{t}(&{place}, {x});"));
    }

    /// Declares the use of atomic operations on numbers of this type.
    pub fn atomics(&mut self, t: ScalarType) {
        if bytes(t) == 8 {
            self.declarations.declare_once("Atomics", || {
                "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n\
                 #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable"
                    .into()
            });
        }
    }
}
