//! Treats the dimensions of one role of a contraction as a single dimension, in row-major order.

use crate::text::writer::Writer;
use accel_fusion::kernel::{Computed, Contraction, Role};

/// The dimensions of a role.
pub fn dims(c: &Contraction<Computed>, role: Role) -> Vec<usize> {
    (0..c.roles.len() - 1).filter(|p| c.roles[*p] == role).collect()
}

/// The number of their elements, as an expression that starts with `one`.
pub fn size(c: &Contraction<Computed>, role: Role, one: &str, extent: impl Fn(usize) -> String) -> String {
    let dims: String = dims(c, role).iter().map(|p| format!(" * {}", extent(*p))).collect();
    format!("{one}{dims}")
}

/// The number of elements of all dimensions of a role together.
pub fn count(roles: &[Role], role: Role, space: &[i64]) -> usize {
    roles.iter().zip(space).filter(|(r, _)| **r == role).map(|(_, n)| *n as usize).product()
}

impl Writer<'_> {
    /// Declares `name` as the distance from the start of an array to the element at position `at` of the dimensions
    /// `dims`.
    pub fn offset(
        &mut self,
        name: &str,
        at: &str,
        dims: &[usize],
        extent: impl Fn(usize) -> String,
        stride: impl Fn(usize) -> String,
    ) {
        let p = "P";
        self.line(format!("{name} = 0;"));
        self.braces("", |w| {
            w.line(format!("{p} position = {at};"));
            for (k, dim) in dims.iter().enumerate().rev() {
                let (step, size) = (stride(*dim), extent(*dim));
                match k {
                    0 => w.line(format!("{name} += position * ({p})({step});")),
                    _ => {
                        w.line(format!("{name} += position % {size} * ({p})({step});"));
                        w.line(format!("position /= {size};"));
                    }
                }
            }
        });
    }
}
