//! Additions to the elements of sums by work-items: NOTE [Additions at the same time].

use crate::text::dialect::Dialect;
use crate::text::primitives;
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Num2, Op2};

/// Whether work-items can add to a number of this type at the same time.
pub fn is_atomic(t: ScalarType, dialect: Dialect) -> bool {
    bytes(t) == 4 || bytes(t) == 8 && dialect.has_atomics_64()
}

/// Adds `x` to a number in memory.
pub fn add(w: &mut Writer, place: &str, t: ScalarType, x: &str) {
    if w.alone || !is_atomic(t, w.dialect()) {
        let sum = primitives::op2(w.declarations, Op2::Num(Num2::Add), t, place, x);
        return w.line(format!("{place} = ({t})({sum});"));
    }
    let prefix = if bytes(t) == 4 { "atomic" } else { "atom" };
    w.atomics(t);
    if t.is_integral() {
        return w.line(format!("{prefix}_add((volatile global {t} *)&{place}, {x});"));
    }
    let (word, float) = if t == ScalarType::F32 { ("uint", "float") } else { ("ulong", "double") };
    w.declarations.declare_once(&format!("add_to_{t}"), || {
        format!(
            "static void add_to_{t}(global {t} *place, {t} x) {{\n    \
             volatile global {word} *const cell = (volatile global {word} *)place;\n    \
             for ({word} seen = *cell;;) {{\n        \
             const {word} found = {prefix}_cmpxchg(cell, seen, as_{word}(as_{float}(seen) + x));\n        \
             if (found == seen) break;\n        \
             seen = found;\n    }}\n}}"
        )
    });
    w.line(format!("add_to_{t}(&{place}, {x});"));
}

impl Writer<'_> {
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
