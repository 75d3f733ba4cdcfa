//! Loops over blocks of indices.

use crate::text::writer::Writer;
use accel_fusion::kernel::ArrayId;

/// Loops over the indices of the dimensions `from..to` of an array.
pub fn loops(w: &mut Writer, a: ArrayId, from: usize, to: usize, body: impl FnOnce(&mut Writer)) {
    if from >= to {
        return w.braces("", body);
    }
    w.braces(&format!("for (i64 i{from} = 0; i{from} < a{a}_n{from}; i{from}++)"), |w| loops(w, a, from + 1, to, body));
}
