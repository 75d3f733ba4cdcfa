//! Conversions of values on the host from and to those of the crate `glam`.

use super::{Mat2, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};

macro_rules! conversions {
    ($($own:ident $single:ident $double:ident: $($own_field:ident $other_field:ident)*;)*) => { $(
        conversions!(@both $own<f32> $single: $($own_field $other_field)*);
        conversions!(@both $own<f64> $double: $($own_field $other_field)*);
    )* };
    (@both $own:ident<$t:ty> $other:ident: $($own_field:ident $other_field:ident)*) => {
        impl From<glam::$other> for $own<$t> {
            fn from(x: glam::$other) -> Self {
                $own { $($own_field: x.$other_field.into()),* }
            }
        }
        impl From<$own<$t>> for glam::$other {
            fn from(x: $own<$t>) -> Self {
                conversions!(@make $other; $(x.$own_field.into()),*)
            }
        }
    };
    (@make Quat; $($x:expr),*) => { glam::Quat::from_xyzw($($x),*) };
    (@make DQuat; $($x:expr),*) => { glam::DQuat::from_xyzw($($x),*) };
    (@make Mat2; $($x:expr),*) => { glam::Mat2::from_cols($($x),*) };
    (@make Mat3; $($x:expr),*) => { glam::Mat3::from_cols($($x),*) };
    (@make Mat4; $($x:expr),*) => { glam::Mat4::from_cols($($x),*) };
    (@make DMat2; $($x:expr),*) => { glam::DMat2::from_cols($($x),*) };
    (@make DMat3; $($x:expr),*) => { glam::DMat3::from_cols($($x),*) };
    (@make DMat4; $($x:expr),*) => { glam::DMat4::from_cols($($x),*) };
    (@make $other:ident; $($x:expr),*) => { glam::$other::new($($x),*) };
}
conversions! {
    Vec2 Vec2 DVec2: x x y y;
    Vec3 Vec3 DVec3: x x y y z z;
    Vec4 Vec4 DVec4: x x y y z z w w;
    Quat Quat DQuat: x x y y z z w w;
    Mat2 Mat2 DMat2: x x_axis y y_axis;
    Mat3 Mat3 DMat3: x x_axis y y_axis z z_axis;
    Mat4 Mat4 DMat4: x x_axis y y_axis z z_axis w w_axis;
}
