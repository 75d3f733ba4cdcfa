//! Vectors of two, three and four components.

use super::linear;
use crate::types::{Elt as Element, Floating};
use crate::{Elt, Exp, ToExp, lit};

macro_rules! vectors {
    ($($number:literal $name:ident $companion:ident: $($x:ident)*;)*) => { $(
        #[doc = concat!("A vector of ", $number, " components.")]
        #[derive(Clone, Copy, PartialEq, Debug, Default, Elt)]
        #[accel(crate = crate)]
        pub struct $name<T: Element> {
            $(#[doc = concat!("The component ", stringify!($x), ".")] pub $x: T),*
        }

        impl<T: Floating> $name<T> {
            /// The vector with these components.
            pub fn new($($x: T),*) -> Self {
                $name { $($x),* }
            }
        }

        impl<T: Floating> $companion<T> {
            /// The vector with these components.
            pub fn new($($x: impl ToExp<T>),*) -> Self {
                $companion { $($x: $x.to_exp()),* }
            }
            /// The vector with these components.
            pub fn from_array(parts: [Exp<T>; $number]) -> Self {
                let [$($x),*] = parts;
                $companion { $($x),* }
            }
            /// The components.
            pub fn to_array(self) -> [Exp<T>; $number] {
                [$(self.$x),*]
            }
            /// The vector with this number in every component.
            pub fn splat(number: impl ToExp<T>) -> Self {
                Self::from_array([number.to_exp(); $number])
            }
            /// A function of each component.
            pub fn map(self, f: impl FnMut(Exp<T>) -> Exp<T>) -> Self {
                Self::from_array(self.to_array().map(f))
            }
            /// The products of components.
            pub fn times(self, other: Self) -> Self {
                $companion { $($x: self.$x * other.$x),* }
            }
            /// The sum of the components.
            pub fn sum(self) -> Exp<T> {
                self.to_array().into_iter().reduce(|sum, x| sum + x).unwrap_or_else(|| lit(0.0))
            }
            /// The inner product.
            pub fn dot(self, other: Self) -> Exp<T> {
                self.times(other).sum()
            }
            /// The square of the length.
            pub fn norm_squared(self) -> Exp<T> {
                self.dot(self)
            }
            /// The length. Its derivative at 0 is 0, by convention.
            pub fn norm(self) -> Exp<T> {
                self.norm_squared().sqrt()
            }
            /// The vector of length 1 in this direction; NaN for 0.
            pub fn normalize(self) -> Self {
                self / self.norm()
            }
            /// The square of the distance from another point.
            pub fn distance_squared(self, other: Self) -> Exp<T> {
                (self - other).norm_squared()
            }
            /// The point on the line from this one, at `t = 0`, to another one, at 1.
            pub fn lerp(self, other: Self, t: impl ToExp<T>) -> Self {
                self + (other - self) * t.to_exp()
            }
        }
        linear!($companion: $($x)*);
    )* };
}
vectors! {
    2 Vec2 Vec2Exp: x y;
    3 Vec3 Vec3Exp: x y z;
    4 Vec4 Vec4Exp: x y z w;
}

impl<T: Floating> Vec2Exp<T> {
    /// The determinant of the matrix with these two columns: the area between them, positive if the other one is to the left.
    pub fn cross(self, other: Self) -> Exp<T> {
        self.x * other.y - self.y * other.x
    }
    /// The vector with one more component.
    pub fn extend(self, z: impl ToExp<T>) -> Vec3Exp<T> {
        Vec3Exp { x: self.x, y: self.y, z: z.to_exp() }
    }
}

impl<T: Floating> Vec3Exp<T> {
    /// The outer product: perpendicular to both vectors.
    pub fn cross(self, other: Self) -> Self {
        Vec3Exp {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }
    /// The vector without its last component.
    pub fn truncate(self) -> Vec2Exp<T> {
        Vec2Exp { x: self.x, y: self.y }
    }
    /// The vector with one more component.
    pub fn extend(self, w: impl ToExp<T>) -> Vec4Exp<T> {
        Vec4Exp { x: self.x, y: self.y, z: self.z, w: w.to_exp() }
    }
}

impl<T: Floating> Vec4Exp<T> {
    /// The vector without its last component.
    pub fn truncate(self) -> Vec3Exp<T> {
        Vec3Exp { x: self.x, y: self.y, z: self.z }
    }
}
