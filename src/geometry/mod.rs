//! Vectors and matrices of two to four dimensions, and quaternions, as elements of arrays.
//!
//! An array of vectors is stored as one column for each component. In scalar code, a vector is the companion with expressions as
//! components: [`Vec3Exp<f64>`](Vec3Exp) for [`Vec3<f64>`](Vec3). It has the operators of vectors, and what is written with them is
//! fused and differentiated as if it were written with numbers.
//!
//! ```
//! use accel::geometry::{QuatExp, Vec3, Vec3Exp};
//! use accel::prelude::*;
//!
//! // Points turned by a rotation vector: how far are they from where they should be?
//! let error = afun(|turn: Acc<Scalar<Vec3<f64>>>, from: Acc<Vector<Vec3<f64>>>, to: Acc<Vector<Vec3<f64>>>| {
//!     let q = QuatExp::from_rotation_vector(the(turn));
//!     sum(zip_with(|p: Vec3Exp<f64>, to: Vec3Exp<f64>| (q * p).distance_squared(to), from, to))
//! });
//! let turn = Array::scalar(Vec3::new(0.0, 0.0, 0.0));
//! let from = Array::vector(vec![Vec3::new(1.0, 0.0, 0.0)]);
//! let to = Array::vector(vec![Vec3::new(0.0, 1.0, 0.0)]);
//! let slope = run(grad(&error.by(|(turn, _, _)| turn)), (&turn, &from, &to))?;
//! // A turn around the z-axis, to the left, brings them together.
//! assert_eq!(slope.item(), Vec3::new(0.0, 0.0, -2.0));
//! # Ok::<(), Error>(())
//! ```
//!
//! [`QuatExp::from_rotation_vector`] and [`QuatExp::to_rotation_vector`] have right derivatives of all orders also where the angle vanishes, for
//! which the usual formulas have `0 / 0`.
//!
//! With the feature `glam`, vectors, matrices and quaternions on the host are converted from and to those of the crate `glam`, which have the same
//! components and columns.

#[cfg(feature = "glam")]
mod glam;
mod matrices;
mod quaternions;
mod vectors;

pub use matrices::{Mat2, Mat2Exp, Mat3, Mat3Exp, Mat4, Mat4Exp};
pub use quaternions::{Quat, QuatExp};
pub use vectors::{Vec2, Vec2Exp, Vec3, Vec3Exp, Vec4, Vec4Exp};

/// The operators by which a structure of numbers is a vector: sums, differences, negation, and products with numbers.
macro_rules! linear {
    ($companion:ident: $($x:ident)*) => {
        impl<T: Floating> std::ops::Add for $companion<T> {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                $companion { $($x: self.$x + other.$x),* }
            }
        }
        impl<T: Floating> std::ops::Sub for $companion<T> {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                $companion { $($x: self.$x - other.$x),* }
            }
        }
        impl<T: Floating> std::ops::Neg for $companion<T> {
            type Output = Self;
            fn neg(self) -> Self {
                $companion { $($x: -self.$x),* }
            }
        }
        impl<T: Floating> std::ops::Mul<Exp<T>> for $companion<T> {
            type Output = Self;
            fn mul(self, factor: Exp<T>) -> Self {
                $companion { $($x: self.$x * factor),* }
            }
        }
        // In messages, it would hide the operators of numbers.
        #[diagnostic::do_not_recommend]
        impl<T: Floating> std::ops::Mul<$companion<T>> for Exp<T> {
            type Output = $companion<T>;
            fn mul(self, x: $companion<T>) -> $companion<T> {
                x * self
            }
        }
        impl<T: Floating> std::ops::Div<Exp<T>> for $companion<T> {
            type Output = Self;
            fn div(self, divisor: Exp<T>) -> Self {
                $companion { $($x: self.$x / divisor),* }
            }
        }
        super::linear!(numbers $companion: f32);
        super::linear!(numbers $companion: f64);
    };
    (numbers $companion:ident: $t:ty) => {
        impl std::ops::Mul<$t> for $companion<$t> {
            type Output = Self;
            fn mul(self, factor: $t) -> Self {
                self * lit::<$t>(f64::from(factor))
            }
        }
        #[diagnostic::do_not_recommend]
        impl std::ops::Mul<$companion<$t>> for $t {
            type Output = $companion<$t>;
            fn mul(self, x: $companion<$t>) -> $companion<$t> {
                x * self
            }
        }
        impl std::ops::Div<$t> for $companion<$t> {
            type Output = Self;
            fn div(self, divisor: $t) -> Self {
                self / lit::<$t>(f64::from(divisor))
            }
        }
    };
}
pub(crate) use linear;
