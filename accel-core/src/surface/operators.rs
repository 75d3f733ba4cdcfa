//! Rust's operators on expressions: `Exp op Exp`, `Exp op value` and `value op Exp`.

use super::nodes::{prim1, prim2};
use super::{Exp, ToExp};
use crate::ast::ty::Repr;
use crate::repr::op::{Int1, Int2, Num1, Num2, Op1, Op2};
use crate::repr::{RawTy, ScalarType};
use crate::types::{Bits, Integral, Num};
use std::iter::{Product, Sum};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};
use std::ops::{AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign};
use std::ops::{MulAssign, RemAssign, ShlAssign, ShrAssign, SubAssign};
use std::panic::Location;

macro_rules! operators {
    ($($trait:ident $method:ident $class:ident $symbol:literal $op:expr, [$($t:ty)*];)*) => { $(
        impl<T: $class> $trait for Exp<T> {
            type Output = Exp<T>;
            #[track_caller]
            fn $method(self, other: Exp<T>) -> Exp<T> {
                Exp::new(prim2($symbol, Location::caller(), $op, T::raw(), self.handle(), other.handle()))
            }
        }
        impl<T: $class> $trait<T> for Exp<T> {
            type Output = Exp<T>;
            #[track_caller]
            fn $method(self, other: T) -> Exp<T> {
                $trait::$method(self, other.to_exp())
            }
        }
        $(impl $trait<Exp<$t>> for $t {
            type Output = Exp<$t>;
            #[track_caller]
            fn $method(self, other: Exp<$t>) -> Exp<$t> {
                $trait::$method(self.to_exp(), other)
            }
        })*
    )* };
}
operators! {
    Add add Num "+" Op2::Num(Num2::Add), [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    Sub sub Num "-" Op2::Num(Num2::Sub), [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    Mul mul Num "*" Op2::Num(Num2::Mul), [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    Div div Num "/" Op2::Num(Num2::Div), [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    Rem rem Num "%" Op2::Num(Num2::Rem), [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    BitAnd bitand Bits "&" T::AND, [bool i8 i16 i32 i64 u8 u16 u32 u64];
    BitOr bitor Bits "|" T::OR, [bool i8 i16 i32 i64 u8 u16 u32 u64];
    BitXor bitxor Integral "^" Op2::Int(Int2::Xor), [i8 i16 i32 i64 u8 u16 u32 u64];
    Shl shl Integral "<<" Op2::Int(Int2::Shl), [i8 i16 i32 i64 u8 u16 u32 u64];
    Shr shr Integral ">>" Op2::Int(Int2::Shr), [i8 i16 i32 i64 u8 u16 u32 u64];
}

/// `x += y` replaces the handle `x` by the handle of the sum. Earlier copies of `x` keep their value.
macro_rules! assignments {
    ($($trait:ident $assign:ident $op:ident $method:ident $class:ident;)*) => { $(
        impl<T: $class, X> $trait<X> for Exp<T>
        where
            Exp<T>: $op<X, Output = Exp<T>>,
        {
            #[track_caller]
            fn $assign(&mut self, other: X) {
                *self = $op::$method(*self, other)
            }
        }
    )* };
}
assignments! {
    AddAssign add_assign Add add Num;
    SubAssign sub_assign Sub sub Num;
    MulAssign mul_assign Mul mul Num;
    DivAssign div_assign Div div Num;
    RemAssign rem_assign Rem rem Num;
    BitAndAssign bitand_assign BitAnd bitand Bits;
    BitOrAssign bitor_assign BitOr bitor Bits;
    BitXorAssign bitxor_assign BitXor bitxor Integral;
    ShlAssign shl_assign Shl shl Integral;
    ShrAssign shr_assign Shr shr Integral;
}

/// `iter().sum()` and `iter().product()`: from the first number to the last one, and 0 or 1 if there are none.
macro_rules! of_iterators {
    ($($trait:ident $method:ident $op:ident $combine:ident $neutral:ident;)*) => { $(
        impl<T: Num> $trait for Exp<T> {
            fn $method<I: Iterator<Item = Exp<T>>>(numbers: I) -> Exp<T> {
                numbers.reduce($op::$combine).unwrap_or_else(|| T::$neutral().to_exp())
            }
        }
        impl<'a, T: Num> $trait<&'a Exp<T>> for Exp<T> {
            fn $method<I: Iterator<Item = &'a Exp<T>>>(numbers: I) -> Exp<T> {
                $trait::$method(numbers.copied())
            }
        }
    )* };
}
of_iterators! {
    Sum sum Add add zero;
    Product product Mul mul one;
}

impl<T: Num> Neg for Exp<T> {
    type Output = Exp<T>;
    #[track_caller]
    fn neg(self) -> Exp<T> {
        Exp::new(prim1("-", Location::caller(), Op1::Num(Num1::Neg), T::raw(), self.handle()))
    }
}

impl<T: Bits> Not for Exp<T> {
    type Output = Exp<T>;
    /// Logical negation of a `bool`, bitwise negation of an integer.
    #[track_caller]
    fn not(self) -> Exp<T> {
        let op = match T::SCALAR {
            ScalarType::Bool => Op1::Not,
            _ => Op1::Int(Int1::BitNot),
        };
        Exp::new(prim1("!", Location::caller(), op, T::raw(), self.handle()))
    }
}

/// The type of conditions.
pub(crate) fn bool_ty() -> RawTy {
    <bool as Repr>::raw()
}
