//! The classes of scalar types, for functions that are generic in their element type.

use crate::ast::ty::Repr;
use crate::error::Result;
use crate::repr::op::{Int2, Logic, Op2};
use crate::repr::scalar::ScalarElt;
use crate::repr::{Column, ColumnElt, Columns, Scalar, Scalars};
use crate::surface::handles::Exp;
use crate::types::elt::{Elt, IntoExp, ToExp};
use smallvec::smallvec;

/// Scalars: numbers and `bool`. In scalar code a scalar is a single [`Exp`] without components.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a scalar", note = "scalars are the numbers and `bool`")]
pub trait Primitive: ColumnElt + Repr + Elt<Repr = Self, Exp = Exp<Self>> + IntoExp<Elt = Self> + ToExp<Self> {}

/// Numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number",
    note = "numbers are `i8` to `i64`, `u8` to `u64`, `f32` and `f64`"
)]
pub trait Num: Primitive {
    /// Converts `x` to this type like Rust's `as`: rounds to `f32`, truncates and saturates to an integer.
    fn from_f64(x: f64) -> Self;
    /// Zero.
    fn zero() -> Self {
        Self::from_f64(0.0)
    }
    /// One.
    fn one() -> Self {
        Self::from_f64(1.0)
    }
}

/// Types with `&`, `|` and `!`: the integers (bitwise) and `bool`.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an integer or `bool`")]
pub trait Bits: Primitive {
    /// The operation of `&`.
    const AND: Op2;
    /// The operation of `|`.
    const OR: Op2;
}

/// The integers, `i8` to `i64` and `u8` to `u64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer",
    note = "integers are `i8` to `i64` and `u8` to `u64`"
)]
pub trait Integral: Num + Bits {}

/// `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point number",
    note = "only `f32` and `f64` have derivatives and functions such as `sin`; `x.cast::<f64>()` converts"
)]
pub trait Floating: Num {
    /// The unsigned integer of the same size.
    type Bits: Integral;
}

macro_rules! scalar_elt {
    ($($t:ty)*) => { $(
        impl Elt for $t {
            type Repr = $t;
            type Exp = Exp<$t>;
            #[inline]
            fn to_scalars(&self, out: &mut Scalars) {
                out.push(self.to_scalar())
            }
            #[inline]
            fn from_scalars(scalars: &mut dyn Iterator<Item = Scalar>) -> Option<Self> {
                <$t>::from_scalar(scalars.next()?)
            }
            fn unlift(e: Exp<Self>) -> Exp<Self> {
                e
            }
            fn into_columns(values: Vec<Self>) -> Result<Columns> {
                Ok(smallvec![Column::from(values)])
            }
            fn from_columns(columns: &[Column], n: usize) -> Option<Vec<Self>> {
                let [column] = columns else { return None };
                <$t>::elements(column)?.get(..n).map(<[$t]>::to_vec)
            }
        }
    )* };
}
scalar_elt!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

macro_rules! primitive {
    ($($t:ty)*) => { $(impl Primitive for $t {})* };
}
primitive!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

macro_rules! num {
    ($($t:ty)*) => { $(
        impl Num for $t {
            fn from_f64(x: f64) -> Self {
                x as $t
            }
        }
    )* };
}
num!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

macro_rules! integral {
    ($($t:ty)*) => { $(
        impl Bits for $t {
            const AND: Op2 = Op2::Int(Int2::And);
            const OR: Op2 = Op2::Int(Int2::Or);
        }
        impl Integral for $t {}
    )* };
}
integral!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Bits for bool {
    const AND: Op2 = Op2::Logic(Logic::And);
    const OR: Op2 = Op2::Logic(Logic::Or);
}

impl Floating for f32 {
    type Bits = u32;
}
impl Floating for f64 {
    type Bits = u64;
}

/// The leaves of a single value.
pub(crate) fn leaves<T: Elt>(x: &T) -> Scalars {
    let mut scalars = Scalars::new();
    x.to_scalars(&mut scalars);
    scalars
}
