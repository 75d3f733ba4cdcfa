//! The primitive functions of integers and `bool`, and conversions between all scalars, compared with Rust's own.

use super::check::Suite;
use accel::prelude::*;

/// Checks a function of one scalar for some values.
#[track_caller]
pub fn one<A: Primitive, B: Primitive>(t: &Suite, xs: &[A], f: impl FnOnce(Exp<A>) -> Exp<B>, host: impl Fn(A) -> B) {
    one_near(t, 0.0, xs, f, host)
}

/// As [`one`], with a tolerance.
#[track_caller]
pub fn one_near<A: Primitive, B: Primitive>(
    t: &Suite,
    tolerance: f64,
    xs: &[A],
    f: impl FnOnce(Exp<A>) -> Exp<B>,
    host: impl Fn(A) -> B,
) {
    let expected = Array::vector(xs.iter().map(|x| host(*x)).collect());
    t.near(tolerance, afun(|xs: Acc<Vector<A>>| map(f, xs)), &Array::vector(xs.to_vec()), expected);
}

/// Checks a function for the first numbers, as many as the program says.
#[track_caller]
fn few<A: Integral + From<u8>>(t: &Suite, f: impl Fn(Exp<A>) -> Exp<A>, host: impl Fn(A) -> A) {
    let numbers = [0, 1, 2, 3, 4, 5, 6, 7].map(A::from);
    let prog = afun(|x: Acc<Scalar<A>>| [2, 3, 4, 8].map(|n: i64| generate(n, |k: Exp<i64>| f(k.cast()) + the(x))));
    let expected = [2, 3, 4, 8].map(|n: usize| Array::vector(numbers[..n].iter().map(|k| host(*k)).collect()));
    t.is(prog, &Array::scalar(numbers[0]), expected);
}

/// Checks a function of two scalars for all pairs of some values for which it is defined.
#[track_caller]
pub fn two<A: Primitive, B: Primitive>(
    t: &Suite,
    xs: &[A],
    f: impl FnOnce(Exp<A>, Exp<A>) -> Exp<B>,
    host: impl Fn(A, A) -> Option<B>,
) {
    two_near(t, 0.0, xs, f, host)
}

/// As [`two`], with a tolerance.
#[track_caller]
pub fn two_near<A: Primitive, B: Primitive>(
    t: &Suite,
    tolerance: f64,
    xs: &[A],
    f: impl FnOnce(Exp<A>, Exp<A>) -> Exp<B>,
    host: impl Fn(A, A) -> Option<B>,
) {
    let pairs = xs.iter().flat_map(|x| xs.iter().map(|y| (*x, *y)));
    let (defined, expected): (Vec<(A, A)>, Vec<B>) = pairs.filter_map(|(x, y)| host(x, y).map(|z| ((x, y), z))).unzip();
    let prog = afun(|pairs: Acc<Vector<(A, A)>>| map(|(x, y)| f(x, y), pairs));
    t.near(tolerance, prog, &Array::vector(defined), Array::vector(expected));
}

pub fn all(t: &Suite) {
    integers!(t; i8 i16 i32 i64 u8 u16 u32 u64);
    bits_of_few!(t; u8 u16 i32 i64 u64);
    negative!(t; i8 i16 i32 i64);
    bools(t);
    conversions!(t; bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    one(t, &f32::extremes(), |x| x.to_bits(), f32::to_bits);
    one(t, &f64::extremes(), |x| x.to_bits(), f64::to_bits);
    one(t, &[0, 1, 0x3FC0_0000, 0x7F80_0000, 0x8000_0000, u32::MAX], Exp::<f32>::from_bits, f32::from_bits);
    one(t, &[0, 1, 0x3FF8 << 48, 0x7FF0 << 48, 1 << 63, u64::MAX], Exp::<f64>::from_bits, f64::from_bits);
}

/// The functions of all integers.
macro_rules! integers {
    ($t:expr; $($ty:ident)*) => { $({
        let (t, xs) = ($t, &[<$ty>::MIN, 0, 1, 2, 3, 7, 8, 33, 100, 127, <$ty>::MAX - 1, <$ty>::MAX, <$ty>::MAX / 2]);
        let nonzero = |y: $ty| (y != 0).then_some(y);
        two(t, xs, |x, y| x + y, |x, y| Some(x.wrapping_add(y)));
        two(t, xs, |x, y| x - y, |x, y| Some(x.wrapping_sub(y)));
        two(t, xs, |x, y| x * y, |x, y| Some(x.wrapping_mul(y)));
        two(t, xs, |x, y| x / y, |x, y| nonzero(y).map(|y| x.wrapping_div(y)));
        two(t, xs, |x, y| x % y, |x, y| nonzero(y).map(|y| x.wrapping_rem(y)));
        two(t, xs, |x, y| x.div_euclid(y), |x, y| nonzero(y).map(|y| x.wrapping_div_euclid(y)));
        two(t, xs, |x, y| x.rem_euclid(y), |x, y| nonzero(y).map(|y| x.wrapping_rem_euclid(y)));
        two(t, xs, |x, y| x & y, |x, y| Some(x & y));
        two(t, xs, |x, y| x | y, |x, y| Some(x | y));
        two(t, xs, |x, y| x ^ y, |x, y| Some(x ^ y));
        two(t, xs, |x, y| x << y, |x, y| Some(x.wrapping_shl(y as u32)));
        two(t, xs, |x, y| x >> y, |x, y| Some(x.wrapping_shr(y as u32)));
        two(t, xs, |x, y| x.min(y), |x, y| Some(x.min(y)));
        two(t, xs, |x, y| x.max(y), |x, y| Some(x.max(y)));
        comparisons(t, xs);
        one(t, xs, |x| !x, |x| !x);
        one(t, xs, |x| x.count_ones(), |x| x.count_ones() as $ty);
        one(t, xs, |x| x.leading_zeros(), |x| x.leading_zeros() as $ty);
        one(t, xs, |x| x.trailing_zeros(), |x| x.trailing_zeros() as $ty);
        // Host values on both sides of an operator.
        one(t, xs, |x| (x + 3) * 5 - 7, |x| x.wrapping_add(3).wrapping_mul(5).wrapping_sub(7));
        one(t, xs, |x| 100 - (7 & x) + 2 * (x | 1) / 3, |x| {
            let half = <$ty>::wrapping_mul(2, x | 1).wrapping_div(3);
            <$ty>::wrapping_sub(100, 7 & x).wrapping_add(half)
        });
        one(t, xs, |x| (1 << (x & 3)) ^ (x >> 1), |x| (1 << (x & 3)) ^ (x >> 1));
    })* };
}
use integers;

/// The functions of bits, for as few elements as a vector of a processor has.
macro_rules! bits_of_few {
    ($t:expr; $($ty:ident)*) => { $({
        few($t, |k: Exp<$ty>| (k ^ 0b0110_1101).count_ones(), |k| (k ^ 0b0110_1101).count_ones() as $ty);
        few($t, |k: Exp<$ty>| (k ^ 0b0110_1101).leading_zeros(), |k| (k ^ 0b0110_1101).leading_zeros() as $ty);
        few($t, |k: Exp<$ty>| (k ^ 0b0110_1101).trailing_zeros(), |k| (k ^ 0b0110_1101).trailing_zeros() as $ty);
    })* };
}
use bits_of_few;

/// The functions that depend on the sign.
macro_rules! negative {
    ($t:expr; $($ty:ident)*) => { $({
        let (t, xs) = ($t, &[<$ty>::MIN, <$ty>::MIN + 1, -100, -7, -3, -2, -1, 0, 1, 2, 5, <$ty>::MAX]);
        let nonzero = |y: $ty| (y != 0).then_some(y);
        one(t, xs, |x| -x, |x| x.wrapping_neg());
        one(t, xs, |x| x.abs(), |x| x.wrapping_abs());
        one(t, xs, |x| x.signum(), |x| x.signum());
        two(t, xs, |x, y| x / y, |x, y| nonzero(y).map(|y| x.wrapping_div(y)));
        two(t, xs, |x, y| x % y, |x, y| nonzero(y).map(|y| x.wrapping_rem(y)));
        two(t, xs, |x, y| x.div_euclid(y), |x, y| nonzero(y).map(|y| x.wrapping_div_euclid(y)));
        two(t, xs, |x, y| x.rem_euclid(y), |x, y| nonzero(y).map(|y| x.wrapping_rem_euclid(y)));
        two(t, xs, |x, y| x << y, |x, y| Some(x.wrapping_shl(y as u32)));
        two(t, xs, |x, y| x >> y, |x, y| Some(x.wrapping_shr(y as u32)));
        comparisons(t, xs);
    })* };
}
use negative;

pub fn comparisons<T: Primitive + PartialOrd>(t: &Suite, xs: &[T]) {
    two(t, xs, |x, y| x.lt(y), |x, y| Some(x < y));
    two(t, xs, |x, y| x.le(y), |x, y| Some(x <= y));
    two(t, xs, |x, y| x.gt(y), |x, y| Some(x > y));
    two(t, xs, |x, y| x.ge(y), |x, y| Some(x >= y));
    two(t, xs, |x, y| x.eq(y), |x, y| Some(x == y));
    two(t, xs, |x, y| x.ne(y), |x, y| Some(x != y));
    let y = xs[1];
    one(t, xs, |x| x.lt(y), |x| x < y);
}

fn bools(t: &Suite) {
    let xs = &[false, true];
    two(t, xs, |x, y| x & y, |x, y| Some(x & y));
    two(t, xs, |x, y| x | y, |x, y| Some(x | y));
    two(t, xs, |x, y| x.and(y), |x, y| Some(x && y));
    two(t, xs, |x, y| x.or(y), |x, y| Some(x || y));
    one(t, xs, |x| !x, |x| !x);
    one(t, xs, |x| x.not(), |x| !x);
    one(t, xs, |x| true & (x | false), |x| x);
    comparisons(t, xs);
}

/// Rust has no `as bool`: any number except zero is true.
trait As<T> {
    fn convert(self) -> T;
}
macro_rules! as_numbers {
    ($($from:ident)*) => { $(as_numbers!(@ $from: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);)* };
    (@ $from:ident: $($to:ident)*) => { $(
        impl As<$to> for $from {
            fn convert(self) -> $to {
                self as $to
            }
        }
    )*
        impl As<bool> for $from {
            fn convert(self) -> bool {
                self != 0 as $from
            }
        }
    };
}
as_numbers!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
macro_rules! as_from_bool {
    ($($to:ident)*) => { $(
        impl As<$to> for bool {
            fn convert(self) -> $to {
                self as u8 as $to
            }
        }
    )* };
}
as_from_bool!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
impl As<bool> for bool {
    fn convert(self) -> bool {
        self
    }
}

/// The values of a type that are converted.
trait Extremes: Primitive {
    fn extremes() -> Vec<Self>;
}
impl Extremes for bool {
    fn extremes() -> Vec<bool> {
        vec![false, true]
    }
}
macro_rules! extremes {
    ($($ty:ident)*) => { $(
        impl Extremes for $ty {
            fn extremes() -> Vec<$ty> {
                vec![<$ty>::MIN, <$ty>::MIN / 2, 0, 1, 100, 127, <$ty>::MAX / 2 + 1, <$ty>::MAX]
            }
        }
    )* };
}
extremes!(i8 i16 i32 i64 u8 u16 u32 u64);
macro_rules! float_extremes {
    ($($ty:ident)*) => { $(
        impl Extremes for $ty {
            fn extremes() -> Vec<$ty> {
                let odd = [<$ty>::NAN, <$ty>::INFINITY, <$ty>::NEG_INFINITY, <$ty>::MAX, <$ty>::MIN, <$ty>::MIN_POSITIVE];
                let plain = [0.0, -0.0, 0.5, 0.99, 1.5, -1.5, 127.9, 128.0, 255.5, -129.0, 1e10, -1e10, 1e20, 16777217.0];
                [&odd[..], &plain].concat()
            }
        }
    )* };
}
float_extremes!(f32 f64);

macro_rules! conversions {
    ($t:expr; $($from:ident)*) => { $(conversions!(@ $t, $from: bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);)* };
    (@ $t:expr, $from:ident: $($to:ident)*) => { $(
        one($t, &<$from>::extremes(), |x| x.cast::<$to>(), |x| As::<$to>::convert(x));
    )* };
}
use conversions;
