//! Square matrices of two, three and four columns.

use super::linear;
use super::quaternions::QuatExp;
use super::vectors::{Vec2, Vec2Exp, Vec3, Vec3Exp, Vec4, Vec4Exp};
use crate::types::{Elt as Element, Floating};
use crate::{Elt, Exp, ToExp, lit};
use std::array;
use std::ops::Mul;

macro_rules! matrices {
    ($($number:literal $name:ident $companion:ident $column:ident $columns:ident: $($x:ident)*;)*) => { $(
        #[doc = concat!("A matrix of ", $number, " columns, which are the images of the unit vectors.")]
        #[derive(Clone, Copy, PartialEq, Debug, Default, Elt)]
        #[accel(crate = crate)]
        pub struct $name<T: Element> {
            $(#[doc = concat!("The column ", stringify!($x), ".")] pub $x: $column<T>),*
        }

        impl<T: Floating> $name<T> {
            /// The matrix with these columns.
            pub fn from_columns($($x: $column<T>),*) -> Self {
                $name { $($x),* }
            }
        }

        impl<T: Floating> $companion<T> {
            /// The matrix with these columns.
            pub fn from_columns(columns: [$columns<T>; $number]) -> Self {
                let [$($x),*] = columns;
                $companion { $($x),* }
            }
            /// The matrix with these rows.
            pub fn from_rows(rows: [$columns<T>; $number]) -> Self {
                Self::from_columns(rows).transpose()
            }
            /// The columns.
            pub fn columns(self) -> [$columns<T>; $number] {
                [$(self.$x),*]
            }
            /// The matrix with these elements on the diagonal and 0 elsewhere.
            pub fn diagonal(elements: $columns<T>) -> Self {
                let all = elements.to_array();
                let element = |i, j| if i == j { all[i] } else { lit(0.0) };
                Self::from_columns(array::from_fn(|j| $columns::from_array(array::from_fn(|i| element(i, j)))))
            }
            /// The matrix that changes nothing.
            pub fn identity() -> Self {
                Self::diagonal($columns::splat(lit(1.0)))
            }
            /// The matrix with rows and columns exchanged.
            pub fn transpose(self) -> Self {
                let columns = self.columns().map($columns::to_array);
                Self::from_columns(array::from_fn(|j| $columns::from_array(array::from_fn(|i| columns[i][j]))))
            }
        }
        linear!($companion: $($x)*);

        impl<T: Floating> Mul<$columns<T>> for $companion<T> {
            type Output = $columns<T>;
            fn mul(self, x: $columns<T>) -> $columns<T> {
                let terms = self.columns().into_iter().zip(x.to_array()).map(|(column, x)| column * x);
                terms.reduce(|sum, term| sum + term).unwrap_or(x)
            }
        }
        impl<T: Floating> Mul for $companion<T> {
            type Output = Self;
            fn mul(self, other: Self) -> Self {
                Self::from_columns(other.columns().map(|column| self * column))
            }
        }
    )* };
}
matrices! {
    2 Mat2 Mat2Exp Vec2 Vec2Exp: x y;
    3 Mat3 Mat3Exp Vec3 Vec3Exp: x y z;
    4 Mat4 Mat4Exp Vec4 Vec4Exp: x y z w;
}

impl<T: Floating> Mat2Exp<T> {
    /// The rotation by an angle, to the left.
    pub fn from_angle(angle: impl ToExp<T>) -> Self {
        let angle = angle.to_exp();
        let (sin, cos) = (angle.sin(), angle.cos());
        Mat2Exp { x: Vec2Exp { x: cos, y: sin }, y: Vec2Exp { x: -sin, y: cos } }
    }
    /// The determinant.
    pub fn determinant(self) -> Exp<T> {
        self.x.cross(self.y)
    }
    /// The inverse; not finite if the determinant is 0.
    pub fn inverse(self) -> Self {
        let adjugate = Mat2Exp { x: Vec2Exp { x: self.y.y, y: -self.x.y }, y: Vec2Exp { x: -self.y.x, y: self.x.x } };
        adjugate / self.determinant()
    }
}

impl<T: Floating> Mat3Exp<T> {
    /// The determinant.
    pub fn determinant(self) -> Exp<T> {
        self.x.dot(self.y.cross(self.z))
    }
    /// The inverse; not finite if the determinant is 0.
    pub fn inverse(self) -> Self {
        let rows = [self.y.cross(self.z), self.z.cross(self.x), self.x.cross(self.y)];
        Self::from_rows(rows) / self.determinant()
    }
}

impl<T: Floating> QuatExp<T> {
    /// The matrix of a rotation.
    pub fn to_matrix(self) -> Mat3Exp<T> {
        let [x, y, z] = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
            .map(|(x, y, z)| self * Vec3Exp { x: lit(x), y: lit(y), z: lit(z) });
        Mat3Exp { x, y, z }
    }
}

/// The parts of a matrix of four columns from which its determinant and its inverse are made: of the columns a, b, c, d without their last
/// components `w`, the vectors a × b, c × d, a `b.w` - b `a.w` and c `d.w` - d `c.w`.
struct Minors<T: Floating> {
    columns: [Vec3Exp<T>; 4],
    s: Vec3Exp<T>,
    t: Vec3Exp<T>,
    u: Vec3Exp<T>,
    v: Vec3Exp<T>,
}

impl<T: Floating> Minors<T> {
    fn of(m: Mat4Exp<T>) -> Self {
        let columns = m.columns().map(Vec4Exp::truncate);
        let [a, b, c, d] = columns;
        let [aw, bw, cw, dw] = m.columns().map(|column| column.w);
        Minors { columns, s: a.cross(b), t: c.cross(d), u: a * bw - b * aw, v: c * dw - d * cw }
    }
    fn determinant(&self) -> Exp<T> {
        self.s.dot(self.v) + self.t.dot(self.u)
    }
}

impl<T: Floating> Mat4Exp<T> {
    /// The transform that turns and then moves.
    pub fn from_rotation_translation(rotation: QuatExp<T>, translation: Vec3Exp<T>) -> Self {
        let Mat3Exp { x, y, z } = rotation.to_matrix();
        let [x, y, z] = [x, y, z].map(|column| column.extend(lit(0.0)));
        Mat4Exp { x, y, z, w: translation.extend(lit(1.0)) }
    }
    /// The image of a point by the first three rows: it is turned, scaled and moved.
    pub fn transform_point(self, p: Vec3Exp<T>) -> Vec3Exp<T> {
        self.transform_vector(p) + self.w.truncate()
    }
    /// The image of a direction by the first three rows: it is not moved.
    pub fn transform_vector(self, v: Vec3Exp<T>) -> Vec3Exp<T> {
        let [x, y, z] = [self.x, self.y, self.z].map(Vec4Exp::truncate);
        Mat3Exp { x, y, z } * v
    }
    /// The determinant.
    pub fn determinant(self) -> Exp<T> {
        Minors::of(self).determinant()
    }
    /// The inverse; not finite if the determinant is 0.
    pub fn inverse(self) -> Self {
        let minors = Minors::of(self);
        let Minors { columns: [a, b, c, d], s, t, u, v } = minors;
        let [aw, bw, cw, dw] = self.columns().map(|column| column.w);
        let rows = [
            (b.cross(v) + t * bw).extend(-b.dot(t)),
            (v.cross(a) - t * aw).extend(a.dot(t)),
            (d.cross(u) + s * dw).extend(-d.dot(s)),
            (u.cross(c) - s * cw).extend(c.dot(s)),
        ];
        Self::from_rows(rows) / minors.determinant()
    }
}
