//! Rotations as quaternions.

use super::linear;
use super::vectors::Vec3Exp;
use crate::types::{Elt as Element, Floating};
use crate::{Elt, Exp, ToExp, cond, lit};
use std::ops::Mul;

/// A quaternion, `w + i x + j y + k z`. Those of length 1 are rotations.
#[derive(Clone, Copy, PartialEq, Debug, Default, Elt)]
#[accel(crate = crate)]
pub struct Quat<T: Element> {
    /// The factor of i.
    pub x: T,
    /// The factor of j.
    pub y: T,
    /// The factor of k.
    pub z: T,
    /// The real part.
    pub w: T,
}

impl<T: Floating> Quat<T> {
    /// The quaternion `w + i x + j y + k z`.
    pub fn new(x: T, y: T, z: T, w: T) -> Self {
        Quat { x, y, z, w }
    }
}

linear!(QuatExp: x y z w);

/// The value of a power series at `x`.
fn series<T: Floating>(x: Exp<T>, coefficients: &[f64]) -> Exp<T> {
    let terms = coefficients.iter().rev().map(|c| lit(*c));
    terms.reduce(|sum, c| sum * x + c).unwrap_or_else(|| lit(0.0))
}

/// `sin(√s / 2) / √s` and `cos(√s / 2)`.
///
/// NOTE [Rotations by small angles]: these are smooth functions of s, but the formulas are not differentiable at 0. Below a limit, a power
/// series is used, of which the terms that are left out are less than the precision of `f64`, for the first derivatives, too.
fn half_angle<T: Floating>(s: Exp<T>) -> (Exp<T>, Exp<T>) {
    let small = s.lt(lit::<T>(0.01));
    let root = s.sqrt();
    let half = root * lit::<T>(0.5);
    let of_sin =
        [1.0 / 2.0, -1.0 / 48.0, 1.0 / 3_840.0, -1.0 / 645_120.0, 1.0 / 185_794_560.0, -1.0 / 81_749_606_400.0];
    let of_cos = [1.0, -1.0 / 8.0, 1.0 / 384.0, -1.0 / 46_080.0, 1.0 / 10_321_920.0, -1.0 / 3_715_891_200.0];
    (cond(small, series(s, &of_sin), half.sin() / root), cond(small, series(s, &of_cos), half.cos()))
}

/// `2 atan2(√n, w) / √n` for `w >= 0`: NOTE [Rotations by small angles].
fn angle_by_sin<T: Floating>(n: Exp<T>, w: Exp<T>) -> Exp<T> {
    let of_atan = [1.0, -1.0 / 3.0, 1.0 / 5.0, -1.0 / 7.0, 1.0 / 9.0, -1.0 / 11.0, 1.0 / 13.0, -1.0 / 15.0];
    let square = n / (w * w);
    let root = n.sqrt();
    let two = lit::<T>(2.0);
    cond(square.lt(lit::<T>(0.003)), two * series(square, &of_atan) / w, two * root.atan2(w) / root)
}

impl<T: Floating> QuatExp<T> {
    /// The quaternion `w + i x + j y + k z`.
    pub fn new(x: impl ToExp<T>, y: impl ToExp<T>, z: impl ToExp<T>, w: impl ToExp<T>) -> Self {
        QuatExp { x: x.to_exp(), y: y.to_exp(), z: z.to_exp(), w: w.to_exp() }
    }
    /// The rotation that changes nothing.
    pub fn identity() -> Self {
        Self::of_parts(Vec3Exp::splat(lit(0.0)), lit(1.0))
    }
    fn of_parts(v: Vec3Exp<T>, w: Exp<T>) -> Self {
        QuatExp { x: v.x, y: v.y, z: v.z, w }
    }
    /// The parts of i, j and k.
    fn vector(self) -> Vec3Exp<T> {
        Vec3Exp { x: self.x, y: self.y, z: self.z }
    }
    /// The rotation around an axis of length 1 by an angle, to the left if the axis points to the viewer.
    pub fn from_axis_angle(axis: Vec3Exp<T>, angle: impl ToExp<T>) -> Self {
        let half = angle.to_exp() * lit::<T>(0.5);
        Self::of_parts(axis * half.sin(), half.cos())
    }
    /// The rotation around a vector by its length: the exponential map. It has right derivatives at 0.
    pub fn from_rotation_vector(v: Vec3Exp<T>) -> Self {
        let (factor, w) = half_angle(v.norm_squared());
        Self::of_parts(v * factor, w)
    }
    /// The vector around which this rotation turns, by its length, which is at most π: the logarithm. It has right derivatives where there is no
    /// rotation.
    pub fn to_rotation_vector(self) -> Vec3Exp<T> {
        // A quaternion and its negative are the same rotation.
        let sign = cond(self.w.lt(lit::<T>(0.0)), lit::<T>(-1.0), lit::<T>(1.0));
        let (v, w) = (self.vector() * sign, self.w * sign);
        v * angle_by_sin(v.norm_squared(), w)
    }
    /// The quaternion with the other sign of i, j and k: for a rotation, the inverse.
    pub fn conjugate(self) -> Self {
        Self::of_parts(-self.vector(), self.w)
    }
    /// The square of the length.
    pub fn norm_squared(self) -> Exp<T> {
        self.vector().norm_squared() + self.w * self.w
    }
    /// The quaternion of length 1 in this direction; NaN for 0.
    pub fn normalize(self) -> Self {
        self / self.norm_squared().sqrt()
    }
    /// The inverse; not finite for 0.
    pub fn inverse(self) -> Self {
        self.conjugate() / self.norm_squared()
    }
    /// The rotation on the shortest way from this one, at `t = 0`, to another one, at 1.
    pub fn slerp(self, other: Self, t: impl ToExp<T>) -> Self {
        let way = (self.conjugate() * other).to_rotation_vector();
        self * Self::from_rotation_vector(way * t.to_exp())
    }
}

impl<T: Floating> Mul for QuatExp<T> {
    type Output = Self;
    /// The rotation by the second one, then by the first one.
    fn mul(self, other: Self) -> Self {
        let (u, v) = (self.vector(), other.vector());
        Self::of_parts(u.cross(v) + v * self.w + u * other.w, self.w * other.w - u.dot(v))
    }
}

impl<T: Floating> Mul<Vec3Exp<T>> for QuatExp<T> {
    type Output = Vec3Exp<T>;
    /// The vector turned by a rotation.
    fn mul(self, v: Vec3Exp<T>) -> Vec3Exp<T> {
        let u = self.vector();
        let across = u.cross(v) * lit::<T>(2.0);
        v + across * self.w + u.cross(across)
    }
}
