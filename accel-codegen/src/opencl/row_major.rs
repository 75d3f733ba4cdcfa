//! Treats the dimensions of one role of a contraction as a single dimension, in row-major order.

use accel_fusion::kernel::{Contraction, Role};

/// The dimensions of a role.
pub fn dims<O>(c: &Contraction<O>, role: Role) -> Vec<usize> {
    (0..c.roles.len() - 1).filter(|p| c.roles[*p] == role).collect()
}

/// The number of their elements, as an expression that starts with `one`.
pub fn size<O>(c: &Contraction<O>, role: Role, one: &str, extent: impl Fn(usize) -> String) -> String {
    let dims: String = dims(c, role).iter().map(|p| format!(" * {}", extent(*p))).collect();
    format!("{one}{dims}")
}

/// The number of elements of all dimensions of a role together.
pub fn count(roles: &[Role], role: Role, space: &[i64]) -> usize {
    roles.iter().zip(space).filter(|(r, _)| **r == role).map(|(_, n)| *n as usize).product()
}
