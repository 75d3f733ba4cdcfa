//! Loops over blocks of indices.

use crate::text::writer::Writer;
use accel_fusion::kernel::ArrayId;

/// Declares the next few indices, clamped to the last one.
pub fn clamped(w: &mut Writer, name: &str, first: &str, size: &str, count: usize) {
    for b in 0..count {
        w.line(match b {
            0 => format!("const i64 {name}0 = {first};"),
            _ => format!("const i64 {name}{b} = {first} + {b} < {size} ? {first} + {b} : {size} - 1;"),
        });
    }
}

/// Loops over the indices of the dimensions `from..to` of an array.
pub fn loops(w: &mut Writer, a: ArrayId, from: usize, to: usize, body: impl FnOnce(&mut Writer)) {
    if from >= to {
        return w.braces("", body);
    }
    w.braces(&format!("for (i64 i{from} = 0; i{from} < a{a}_n{from}; i{from}++)"), |w| loops(w, a, from + 1, to, body));
}
