//! Vectors in space, in scalar code.

use accel::prelude::*;

/// A point or direction in space.
pub type Vec3 = (Exp<f64>, Exp<f64>, Exp<f64>);

/// The sum.
pub fn add(a: Vec3, b: Vec3) -> Vec3 {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}

/// The difference.
pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    (a.0 - b.0, a.1 - b.1, a.2 - b.2)
}

/// The vector, `s` times as long.
pub fn scale(s: Exp<f64>, a: Vec3) -> Vec3 {
    (s * a.0, s * a.1, s * a.2)
}

/// The scalar product.
pub fn dot3(a: Vec3, b: Vec3) -> Exp<f64> {
    a.0 * b.0 + a.1 * b.1 + a.2 * b.2
}

/// The vector product.
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    (a.1 * b.2 - a.2 * b.1, a.2 * b.0 - a.0 * b.2, a.0 * b.1 - a.1 * b.0)
}
