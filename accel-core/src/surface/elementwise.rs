//! Rust's operators and the functions of [`Exp`] on arrays: element by element, with arrays of the same shape and with numbers.
//!
//! NOTE [Broadcasting is written]: a number is combined with every element of an array. Arrays of different ranks are only combined
//! where the program says how: [`row`] repeats a vector as every row, [`column`] an array along the rows. So a vector of the wrong
//! axis is an error of types or shapes, and never a matrix that nobody asked for.

use super::functions::{at_least, at_most};
use super::graph::attribute_to;
use super::{
    Acc, Exp, IntoShape, cond, generate, index_head, index_tail, map, pair, replicate_inner, shape, snoc, the, zip_with,
};
use crate::array::Array;
use crate::types::elt::{IntoExp, ToExp};
use crate::types::{Bits, Dim1, Elt, Floating, Integral, Num, Primitive, Shape, Snoc, Z};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};
use std::ops::{AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign};
use std::ops::{MulAssign, RemAssign, ShlAssign, ShrAssign, SubAssign};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// What is combined with every element of an array of shape `Sh`: an array of the same shape, a number, an `Exp`, an array without
/// dimensions, and arrays of a lower rank as [`row`] or [`column`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be combined with the elements of an array of `{T}`",
    note = "an array is combined with arrays of the same rank, an `Exp<{T}>`, a number of type `{T}` (write `2.0` for a `f64`), and \
            an array without dimensions; `row(v)` and `column(v)` repeat a vector",
    note = "elements of another type are converted by `cast`"
)]
pub trait Operand<Sh: Shape, T: Elt>: Copy {
    /// Applies `f` to each element of `xs` and what stands beside it. Arrays of different shapes are an error when the program runs.
    fn beside<U: Elt, R: IntoExp>(self, f: impl FnOnce(U::Exp, T::Exp) -> R, xs: Arr<Sh, U>) -> Arr<Sh, R::Elt>;
}

impl<Sh: Shape, T: Elt> Operand<Sh, T> for Arr<Sh, T> {
    #[track_caller]
    fn beside<U: Elt, R: IntoExp>(self, f: impl FnOnce(U::Exp, T::Exp) -> R, xs: Arr<Sh, U>) -> Arr<Sh, R::Elt> {
        zip_with(f, xs, self)
    }
}
impl<Sh: Shape, T: Elt> Operand<Snoc<Sh>, T> for Arr<Z, T> {
    #[track_caller]
    fn beside<U: Elt, R: IntoExp>(
        self,
        f: impl FnOnce(U::Exp, T::Exp) -> R,
        xs: Arr<Snoc<Sh>, U>,
    ) -> Arr<Snoc<Sh>, R::Elt> {
        map(|x| f(x, the(self)), xs)
    }
}
impl<Sh: Shape, T: Primitive> Operand<Sh, T> for Exp<T> {
    #[track_caller]
    fn beside<U: Elt, R: IntoExp>(self, f: impl FnOnce(U::Exp, Exp<T>) -> R, xs: Arr<Sh, U>) -> Arr<Sh, R::Elt> {
        map(|x| f(x, self), xs)
    }
}
macro_rules! literals {
    ($($t:ty)*) => { $(
        // In messages, a list of all types of numbers would hide what else can stand there.
        #[diagnostic::do_not_recommend]
        impl<Sh: Shape> Operand<Sh, $t> for $t {
            #[track_caller]
            fn beside<U: Elt, R: IntoExp>(self, f: impl FnOnce(U::Exp, Exp<$t>) -> R, xs: Arr<Sh, U>) -> Arr<Sh, R::Elt> {
                map(|x| f(x, self.to_exp()), xs)
            }
        }
    )* };
}
literals!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// A vector that stands in every row: see [`row`].
#[derive(Clone, Copy)]
pub struct Row<T: Primitive>(Arr<Dim1, T>);

/// An array of which each element stands along a row: see [`column`].
pub struct Column<Sh: Shape, T: Elt>(Arr<Sh, T>);
impl<Sh: Shape, T: Elt> Clone for Column<Sh, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<Sh: Shape, T: Elt> Copy for Column<Sh, T> {}

/// The vector as every innermost row of the array that it is combined with: `m + row(v)` is v\[j\] added to m\[i, j\], as `m + v` in
/// NumPy. The length of the vector is the length of the rows, otherwise the run is an error. `column(u) + row(v)` is the matrix of all sums
/// u\[i\] + v\[j\].
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let layer = afun(|w: Acc<Matrix<f64>>, x: Acc<Matrix<f64>>, b: Acc<Vector<f64>>| (matmul(x, w) + row(b)).tanh());
/// let (w, x, b) = (Array::matrix(2, 1, vec![1.0, 1.0])?, Array::matrix(1, 2, vec![1.0, 2.0])?, Array::vector(vec![-3.0]));
/// assert_eq!(run_with(&Interpreter, &layer, (&w, &x, &b))?.as_slice(), [0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn row<T: Primitive>(v: Arr<Dim1, T>) -> Row<T> {
    Row(v)
}

/// The array with each element along an innermost row of the array that it is combined with: `m - column(v)` is v\[i\] subtracted from
/// m\[i, j\], as `m - v[:, None]` in NumPy. It has the extents of the other array without the last one, otherwise the run is an error.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let centered = afun(|m: Acc<Matrix<f64>>| m - column(mean(m)));
/// let m = Array::matrix(2, 2, vec![1.0, 3.0, 5.0, 5.0])?;
/// assert_eq!(run_with(&Interpreter, &centered, &m)?.as_slice(), [-1.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn column<Sh: Shape, T: Elt>(v: Arr<Sh, T>) -> Column<Sh, T> {
    Column(v)
}

impl<Sh: Shape, T: Primitive> Operand<Snoc<Sh>, T> for Row<T> {
    #[track_caller]
    fn beside<U: Elt, R: IntoExp>(
        self,
        f: impl FnOnce(U::Exp, T::Exp) -> R,
        xs: Arr<Snoc<Sh>, U>,
    ) -> Arr<Snoc<Sh>, R::Elt> {
        let sh = snoc(index_tail(shape(xs)), index_head(shape(self.0)));
        zip_with(f, xs, generate(sh, |ix| self.0.at(index_head(ix.into_shape()))))
    }
}
impl<Sh: Shape, T: Elt> Operand<Snoc<Sh>, T> for Column<Sh, T> {
    #[track_caller]
    fn beside<U: Elt, R: IntoExp>(
        self,
        f: impl FnOnce(U::Exp, T::Exp) -> R,
        xs: Arr<Snoc<Sh>, U>,
    ) -> Arr<Snoc<Sh>, R::Elt> {
        zip_with(f, xs, replicate_inner(index_head(shape(xs)), self.0))
    }
}

/// An operator of arrays with what stands on its right and on its left. (One implementation for every [`Operand`] would overlap with
/// those of arrays without dimensions on the left, since other crates may add shapes.)
macro_rules! operators {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $class:ident $symbol:literal [$($t:ty)*];)*) => { $(
        right!($trait $method $class $symbol [Sh, T, Arr<Sh, T>]);
        right!($trait $method $class $symbol [Sh, T, Exp<T>]);
        right!($trait $method $class $symbol [Snoc<Sh>, T, Arr<Z, T>]);
        right!($trait $method $class $symbol [Snoc<Sh>, T, Row<T>]);
        right!($trait $method $class $symbol [Snoc<Sh>, T, Column<Sh, T>]);
        left!($trait $method $class $symbol [Sh, T, Exp<T>]);
        left!($trait $method $class $symbol [Snoc<Sh>, T, Arr<Z, T>]);
        left!($trait $method $class $symbol [Snoc<Sh>, T, Row<T>]);
        left!($trait $method $class $symbol [Snoc<Sh>, T, Column<Sh, T>]);
        crossed!($trait $method $class $symbol);
        impl<Sh: Shape, T: $class> $trait<T> for Arr<Sh, T> {
            type Output = Arr<Sh, T>;
            #[track_caller]
            fn $method(self, other: T) -> Arr<Sh, T> {
                $trait::$method(self, other.to_exp())
            }
        }
        $(impl<Sh: Shape> $trait<Arr<Sh, $t>> for $t {
            type Output = Arr<Sh, $t>;
            #[track_caller]
            fn $method(self, other: Arr<Sh, $t>) -> Arr<Sh, $t> {
                $trait::$method(self.to_exp(), other)
            }
        })*
        impl<Sh: Shape, T: $class, X> $assign<X> for Arr<Sh, T>
        where
            Arr<Sh, T>: $trait<X, Output = Arr<Sh, T>>,
        {
            #[track_caller]
            fn $assign_method(&mut self, other: X) {
                *self = $trait::$method(*self, other)
            }
        }
    )* };
}
macro_rules! right {
    ($trait:ident $method:ident $class:ident $symbol:literal [$sh:ty, $t:ty, $right:ty]) => {
        impl<Sh: Shape, T: $class> $trait<$right> for Arr<$sh, $t> {
            type Output = Arr<$sh, $t>;
            #[track_caller]
            fn $method(self, other: $right) -> Arr<$sh, $t> {
                let _site = attribute_to($symbol, Location::caller());
                other.beside(|x: Exp<T>, y: Exp<T>| $trait::$method(x, y), self)
            }
        }
    };
}
macro_rules! left {
    ($trait:ident $method:ident $class:ident $symbol:literal [$sh:ty, $t:ty, $left:ty]) => {
        // A mistake in an operation on numbers has nothing to do with arrays.
        #[diagnostic::do_not_recommend]
        impl<Sh: Shape, T: $class> $trait<Arr<$sh, $t>> for $left {
            type Output = Arr<$sh, $t>;
            #[track_caller]
            fn $method(self, other: Arr<$sh, $t>) -> Arr<$sh, $t> {
                let _site = attribute_to($symbol, Location::caller());
                self.beside(|y: Exp<T>, x: Exp<T>| $trait::$method(x, y), other)
            }
        }
    };
}
/// A column and a row: the result has an element for each pair of their elements.
macro_rules! crossed {
    ($trait:ident $method:ident $class:ident $symbol:literal) => {
        #[diagnostic::do_not_recommend]
        impl<Sh: Shape, T: $class> $trait<Row<T>> for Column<Sh, T> {
            type Output = Arr<Snoc<Sh>, T>;
            #[track_caller]
            fn $method(self, other: Row<T>) -> Arr<Snoc<Sh>, T> {
                let _site = attribute_to($symbol, Location::caller());
                crossed(|x, y| $trait::$method(x, y), self, other)
            }
        }
        #[diagnostic::do_not_recommend]
        impl<Sh: Shape, T: $class> $trait<Column<Sh, T>> for Row<T> {
            type Output = Arr<Snoc<Sh>, T>;
            #[track_caller]
            fn $method(self, other: Column<Sh, T>) -> Arr<Snoc<Sh>, T> {
                let _site = attribute_to($symbol, Location::caller());
                crossed(|y, x| $trait::$method(x, y), other, self)
            }
        }
    };
}
operators! {
    Add add AddAssign add_assign Num "+" [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    Sub sub SubAssign sub_assign Num "-" [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    Mul mul MulAssign mul_assign Num "*" [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    Div div DivAssign div_assign Num "/" [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    Rem rem RemAssign rem_assign Num "%" [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
    BitAnd bitand BitAndAssign bitand_assign Bits "&" [bool i8 i16 i32 i64 u8 u16 u32 u64];
    BitOr bitor BitOrAssign bitor_assign Bits "|" [bool i8 i16 i32 i64 u8 u16 u32 u64];
    BitXor bitxor BitXorAssign bitxor_assign Integral "^" [i8 i16 i32 i64 u8 u16 u32 u64];
    Shl shl ShlAssign shl_assign Integral "<<" [i8 i16 i32 i64 u8 u16 u32 u64];
    Shr shr ShrAssign shr_assign Integral ">>" [i8 i16 i32 i64 u8 u16 u32 u64];
}

/// Applies `f` to each element of the column and each of the row.
#[track_caller]
fn crossed<Sh: Shape, T: Primitive>(
    f: impl FnOnce(Exp<T>, Exp<T>) -> Exp<T>,
    Column(column): Column<Sh, T>,
    Row(row): Row<T>,
) -> Arr<Snoc<Sh>, T> {
    generate(snoc(shape(column), index_head(shape(row))), |ix| {
        let ix = ix.into_shape();
        f(column.at(index_tail(ix)), row.at(index_head(ix)))
    })
}

impl<Sh: Shape, T: Num> Neg for Arr<Sh, T> {
    type Output = Arr<Sh, T>;
    #[track_caller]
    fn neg(self) -> Arr<Sh, T> {
        let _site = attribute_to("-", Location::caller());
        map(|x: Exp<T>| -x, self)
    }
}
impl<Sh: Shape, T: Bits> Not for Arr<Sh, T> {
    type Output = Arr<Sh, T>;
    #[track_caller]
    fn not(self) -> Arr<Sh, T> {
        let _site = attribute_to("!", Location::caller());
        map(|x: Exp<T>| !x, self)
    }
}

/// Defines methods of arrays with the names of methods of elements.
macro_rules! methods {
    ($($class:ident: $($name:ident)* $(| $($name2:ident)*)? => $result:ty;)*) => { $(
        impl<Sh: Shape, T: $class> Arr<Sh, T> {
            $(
                #[doc = concat!("[`Exp::", stringify!($name), "`] of each element.")]
                #[track_caller]
                pub fn $name(self) -> Arr<Sh, $result> {
                    let _site = attribute_to(stringify!($name), Location::caller());
                    map(|x: Exp<T>| x.$name(), self)
                }
            )*
            $($(
                #[doc = concat!("[`Exp::", stringify!($name2), "`] of each element and what `other` has beside it.")]
                #[track_caller]
                pub fn $name2(self, other: impl Operand<Sh, T>) -> Arr<Sh, $result> {
                    let _site = attribute_to(stringify!($name2), Location::caller());
                    other.beside(|x: Exp<T>, y: Exp<T>| x.$name2(y), self)
                }
            )*)?
        }
    )* };
}
methods! {
    Primitive: | lt le gt ge eq ne => bool;
    Num: abs signum | min max => T;
    Integral: count_ones leading_zeros trailing_zeros | div_euclid rem_euclid => T;
    Floating: sin cos tan asin acos atan sinh cosh tanh sech asinh acosh atanh exp exp2 exp_m1 ln log2 log10 ln_1p sqrt cbrt recip
        erf erfc erfinv normal_cdf log_normal_cdf lgamma digamma j0 j1 i0 i1 ln_i0 i0e i1e sigmoid log_sigmoid softplus relu gelu logit
        nan_to_num detach floor ceil round trunc | powf atan2 hypot log_add_exp xlogy gamma_inc gamma_inc_upper => T;
    Floating: is_nan is_infinite is_finite => bool;
}

impl<Sh: Shape, T: Primitive> Arr<Sh, T> {
    /// [`Exp::cast`] of each element.
    #[track_caller]
    pub fn cast<U: Primitive>(self) -> Arr<Sh, U> {
        let _site = attribute_to("cast", Location::caller());
        map(|x: Exp<T>| x.cast::<U>(), self)
    }
}

impl<Sh: Shape, T: Num> Arr<Sh, T> {
    /// [`Exp::clamp`] of each element, between what `low` and `high` have beside it.
    #[track_caller]
    pub fn clamp(self, low: impl Operand<Sh, T>, high: impl Operand<Sh, T>) -> Arr<Sh, T> {
        let _site = attribute_to("clamp", Location::caller());
        self.max(low).min(high)
    }

    /// [`Exp::clip`] of each element, between what `low` and `high` have beside it.
    #[track_caller]
    pub fn clip(self, low: impl Operand<Sh, T>, high: impl Operand<Sh, T>) -> Arr<Sh, T> {
        let _site = attribute_to("clip", Location::caller());
        high.beside(at_most, low.beside(at_least, self))
    }
}

impl<Sh: Shape, T: Floating> Arr<Sh, T> {
    /// [`Exp::beta_inc`] of each element and what `b` and `x` have beside it.
    #[track_caller]
    pub fn beta_inc(self, b: impl Operand<Sh, T>, x: impl Operand<Sh, T>) -> Arr<Sh, T> {
        let _site = attribute_to("beta_inc", Location::caller());
        self.with_two(|a, b, x| a.beta_inc(b, x), b, x)
    }

    /// [`Exp::beta_inc_upper`] of each element and what `b` and `x` have beside it.
    #[track_caller]
    pub fn beta_inc_upper(self, b: impl Operand<Sh, T>, x: impl Operand<Sh, T>) -> Arr<Sh, T> {
        let _site = attribute_to("beta_inc_upper", Location::caller());
        self.with_two(|a, b, x| a.beta_inc_upper(b, x), b, x)
    }

    #[track_caller]
    fn with_two(
        self,
        f: impl FnOnce(Exp<T>, Exp<T>, Exp<T>) -> Exp<T>,
        b: impl Operand<Sh, T>,
        x: impl Operand<Sh, T>,
    ) -> Arr<Sh, T> {
        x.beside(|(a, b): (Exp<T>, Exp<T>), x| f(a, b, x), b.beside(|a: Exp<T>, b: Exp<T>| (a, b), self))
    }

    /// [`Exp::ln`] of each element, under the name that it has in NumPy.
    #[deprecated(note = "the natural logarithm is `ln`; `log2` and `log10` are those to other bases")]
    #[track_caller]
    pub fn log(self) -> Arr<Sh, T> {
        self.ln()
    }

    /// [`Exp::powi`] of each element.
    #[track_caller]
    pub fn powi(self, n: i32) -> Arr<Sh, T> {
        let _site = attribute_to("powi", Location::caller());
        map(|x: Exp<T>| x.powi(n), self)
    }
}

/// Where the mask is true, what `xs` has there, elsewhere what `ys` has there, as `where(mask, xs, ys)` in NumPy. The derivative is
/// that of the one that is chosen, also if the other one is NaN or infinite.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let logs = afun(|xs: Acc<Vector<f64>>| where_(xs.gt(0.0), xs.ln(), -1.0));
/// assert_eq!(run_with(&Interpreter, &logs, &Array::vector(vec![1.0, -1.0]))?.as_slice(), [0.0, -1.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn where_<Sh: Shape, T: Primitive>(
    mask: Arr<Sh, bool>,
    xs: impl Operand<Sh, T>,
    ys: impl Operand<Sh, T>,
) -> Arr<Sh, T> {
    let _site = attribute_to("where_", Location::caller());
    let chosen = xs.beside(|is_first: Exp<bool>, x: Exp<T>| pair(is_first, x), mask);
    ys.beside(|(is_first, x), y: Exp<T>| cond::<T>(is_first, x, y), chosen)
}
