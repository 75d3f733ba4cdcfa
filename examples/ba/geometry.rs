//! The geometry of a camera: rotation, projection and lens distortion, on scalar expressions.

use accel::prelude::*;

/// A point or direction in space.
pub type Vec3<T> = (Exp<T>, Exp<T>, Exp<T>);
/// A point in the image.
pub type Vec2<T> = (Exp<T>, Exp<T>);

/// A camera on the host: rotation (axis times angle), centre, focal length, principal point, radial distortion.
pub type Camera<T> = ((T, T, T), (T, T, T), T, (T, T), (T, T));
/// A camera in scalar code.
pub type CameraExp<T> = (Vec3<T>, Vec3<T>, Exp<T>, Vec2<T>, Vec2<T>);

/// The weighted reprojection error: the distance from `feature` to the place at which the camera sees `point`.
pub fn residual<T: Floating>(camera: CameraExp<T>, point: Vec3<T>, weight: Exp<T>, feature: Vec2<T>) -> Vec2<T> {
    let seen = project(camera, point);
    (weight * (seen.0 - feature.0), weight * (seen.1 - feature.1))
}

/// The error that keeps the weights close to one.
pub fn weight_error<T: Floating>(weight: Exp<T>) -> Exp<T> {
    lit::<T>(1.0) - weight * weight
}

fn project<T: Floating>((rotation, centre, focal, principal, distortion): CameraExp<T>, point: Vec3<T>) -> Vec2<T> {
    let (x, y, z) = rotate(rotation, sub(point, centre));
    let (u, v) = distort(distortion, (x / z, y / z));
    (u * focal + principal.0, v * focal + principal.1)
}

/// Radial lens distortion of fourth order.
fn distort<T: Floating>((k1, k2): Vec2<T>, (u, v): Vec2<T>) -> Vec2<T> {
    let square = u * u + v * v;
    let factor = lit::<T>(1.0) + k1 * square + k2 * square * square;
    (u * factor, v * factor)
}

/// Rotates `x` about the axis `r` by the angle |r|, with the formula of Rodrigues. It divides by zero at r = 0. There,
/// the first-order approximation has the same value and the same derivatives.
fn rotate<T: Floating>(r: Vec3<T>, x: Vec3<T>) -> Vec3<T> {
    let square = dot3(r, r);
    let angle = square.sqrt();
    let axis = (r.0 / angle, r.1 / angle, r.2 / angle);
    let (cos, sin) = (angle.cos(), angle.sin());
    let along = dot3(axis, x) * (lit::<T>(1.0) - cos);
    let turned = add(add(scale(cos, x), scale(sin, cross(axis, x))), scale(along, axis));
    cond(square.eq(lit::<T>(0.0)), add(x, cross(r, x)), turned).unlift()
}

fn add<T: Floating>(a: Vec3<T>, b: Vec3<T>) -> Vec3<T> {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}

fn sub<T: Floating>(a: Vec3<T>, b: Vec3<T>) -> Vec3<T> {
    (a.0 - b.0, a.1 - b.1, a.2 - b.2)
}

fn scale<T: Floating>(s: Exp<T>, a: Vec3<T>) -> Vec3<T> {
    (s * a.0, s * a.1, s * a.2)
}

fn dot3<T: Floating>(a: Vec3<T>, b: Vec3<T>) -> Exp<T> {
    a.0 * b.0 + a.1 * b.1 + a.2 * b.2
}

fn cross<T: Floating>(a: Vec3<T>, b: Vec3<T>) -> Vec3<T> {
    (a.1 * b.2 - a.2 * b.1, a.2 * b.0 - a.0 * b.2, a.0 * b.1 - a.1 * b.0)
}
