//! Numbers of 16 bits, in which arrays are stored: [`F16`] of IEEE 754, and [`Bf16`], the upper half of an `f32`.
//!
//! Programs compute with `f32`: [`widen`] reads such an array and [`narrow`] writes one, rounding to the nearest number, and to the one with an even last bit from the middle. Both
//! fuse with what stands around them, so data and tables take half of the memory and of its bandwidth. An array of 16-bit numbers has no derivative, as one of integers has none:
//! parameters are arrays of `f32`. [`rounded`] computes with the numbers that would be stored, and has the derivative of a number that is not rounded.
//!
//! On the host, `to_bits` and `from_bits` exchange numbers with other libraries, such as the crate `half`.
//!
//! ```
//! use accel::half::{Bf16, narrow, widen};
//! use accel::prelude::*;
//!
//! let dotp = afun(|xs: Acc<Vector<Bf16>>, w: Acc<Vector<f32>>| dot(widen(xs), w));
//! let xs = Array::vector([1.0, 2.0, 3.0].map(Bf16::from_f32).to_vec());
//! let w = Array::vector(vec![1.0f32, 10.0, 100.0]);
//! assert_eq!(run(&dotp, (&xs, &w))?.item(), 321.0);
//! assert_eq!(run(grad(dotp.by(|(_, w)| w)), (&xs, &w))?.to_vec(), [1.0, 2.0, 3.0]);
//!
//! // 8 bits of precision.
//! let stored = run(&afun(|w: Acc<Vector<f32>>| narrow::<Bf16, _>(w / 3.0)), &w)?;
//! assert_eq!(stored.to_vec()[0].to_f32(), 0.333984375);
//! # Ok::<(), Error>(())
//! ```

use crate::surface::attributed;
use crate::types::Shape;
use crate::{Acc, Array, Elt, Exp, cond, constant, map};
use std::ops::{Add, BitAnd, BitOr, Shl, Shr, Sub};
use std::panic::Location;

/// The bits of an `f32`, on the host and in a program.
trait Bits:
    Copy
    + Add<Output = Self>
    + Add<u32, Output = Self>
    + Sub<u32, Output = Self>
    + BitAnd<u32, Output = Self>
    + BitOr<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    fn of(bits: u32) -> Self;
    /// One of two words: the first where this one is less than `bound`.
    fn below(self, bound: u32, first: impl FnOnce() -> Self, second: impl FnOnce() -> Self) -> Self;
    /// The bits of the sum, where these are those of a number.
    fn plus(self, x: f32) -> Self;
}

impl Bits for u32 {
    fn of(bits: u32) -> u32 {
        bits
    }
    fn below(self, bound: u32, first: impl FnOnce() -> u32, second: impl FnOnce() -> u32) -> u32 {
        if self < bound { first() } else { second() }
    }
    fn plus(self, x: f32) -> u32 {
        (f32::from_bits(self) + x).to_bits()
    }
}

impl Bits for Exp<u32> {
    fn of(bits: u32) -> Self {
        constant(bits)
    }
    fn below(self, bound: u32, first: impl FnOnce() -> Self, second: impl FnOnce() -> Self) -> Self {
        cond(self.lt(bound), first(), second())
    }
    fn plus(self, x: f32) -> Self {
        (Exp::<f32>::from_bits(self) + x).to_bits()
    }
}

/// Without the last `n` bits, rounded to the nearest and even number.
fn without<B: Bits>(bits: B, n: u32) -> B {
    (bits + ((1 << (n - 1)) - 1) + ((bits >> n) & 1)) >> n
}

/// The biases of the exponents differ by this.
const BIAS: u32 = (127 - 15) << 23;
const INFINITY: u32 = 0x7f80_0000;
/// The bit that tells a quiet NaN, of an `f32`.
const QUIET: u32 = 0x0040_0000;

fn narrow_to_f16<B: Bits>(bits: B) -> B {
    let size = bits & 0x7fff_ffff;
    // In the sum with ½, the last bit is that of the smallest number.
    let tiny = || size.plus(0.5) - 0.5f32.to_bits();
    let usual = || without(size - BIAS, 13);
    let infinite = || size.below(INFINITY + 1, || B::of(0x7c00), || ((size >> 13) & 0x3ff) | B::of(0x7e00));
    let narrowed = size.below(BIAS + (1 << 23), tiny, || size.below(65536f32.to_bits(), usual, infinite));
    narrowed | ((bits >> 16) & 0x8000)
}

fn widen_f16<B: Bits>(bits: B) -> B {
    let size = (bits & 0x7fff) << 13;
    let least = f32::from_bits(BIAS + (1 << 23));
    let tiny = || (size + (BIAS + (1 << 23))).plus(-least);
    let infinite = || size + 2 * BIAS;
    size.below(1 << 23, tiny, || size.below(31 << 23, || size + BIAS, infinite)) | ((bits & 0x8000) << 16)
}

fn narrow_to_bf16<B: Bits>(bits: B) -> B {
    let is_nan = || (bits >> 16) | B::of(QUIET >> 16);
    (bits & 0x7fff_ffff).below(INFINITY + 1, || without(bits, 16), is_nan)
}

fn widen_bf16<B: Bits>(bits: B) -> B {
    bits << 16
}

/// A type of numbers with 16 bits: [`F16`] or [`Bf16`].
pub trait Half: Elt {
    /// The nearest number, in scalar code.
    fn narrow(x: Exp<f32>) -> Self::Exp;
    /// The same number, in scalar code.
    fn widen(x: Self::Exp) -> Exp<f32>;
}

macro_rules! halves {
    ($($(#[$doc:meta])* $name:ident $companion:ident $narrow:ident $widen:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Elt)]
        pub struct $name {
            bits: u16,
        }

        impl $name {
            /// The nearest number. What is too large becomes infinite.
            pub fn from_f32(x: f32) -> Self {
                $name { bits: $narrow(x.to_bits()) as u16 }
            }
            /// The same number.
            pub fn to_f32(self) -> f32 {
                f32::from_bits($widen(u32::from(self.bits)))
            }
            /// The number with these bits.
            pub fn from_bits(bits: u16) -> Self {
                $name { bits }
            }
            /// The bits.
            pub fn to_bits(self) -> u16 {
                self.bits
            }
        }

        /// As numbers: NaN is not equal to itself, and -0 is 0.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl Half for $name {
            fn narrow(x: Exp<f32>) -> $companion {
                $companion { bits: $narrow(x.to_bits()).cast() }
            }
            fn widen(x: $companion) -> Exp<f32> {
                Exp::from_bits($widen(x.bits.cast::<u32>()))
            }
        }
    )* };
}
halves! {
    /// A number with 11 bits of precision and sizes of 6e-8 to 65,504: `binary16` of IEEE 754. In scalar code, its companion `F16Exp` stands for it.
    F16 F16Exp narrow_to_f16 widen_f16;
    /// A number with 8 bits of precision and the sizes of an `f32`, whose upper half it is. In scalar code, its companion `Bf16Exp` stands for it.
    Bf16 Bf16Exp narrow_to_bf16 widen_bf16;
}

/// The same numbers as `f32`.
#[track_caller]
pub fn widen<H: Half, Sh: Shape>(xs: Acc<Array<Sh, H>>) -> Acc<Array<Sh, f32>> {
    attributed(("widen", Location::caller()), || map(H::widen, xs))
}

/// The nearest numbers with 16 bits: `narrow::<F16, _>(xs)`. What is too large becomes infinite.
#[track_caller]
pub fn narrow<H: Half, Sh: Shape>(xs: Acc<Array<Sh, f32>>) -> Acc<Array<Sh, H>> {
    attributed(("narrow", Location::caller()), || map(|x: Exp<f32>| H::narrow(x), xs))
}

/// The nearest numbers with 16 bits as `f32`, with the derivative 1: `rounded::<Bf16, _>(xs)`. What is rounded to 0 has no sign.
///
/// ```
/// use accel::half::{F16, rounded};
/// use accel::prelude::*;
///
/// let program = afun(|xs: Acc<Vector<f32>>| sum(rounded::<F16, _>(xs) * 3.0));
/// assert_eq!(run(grad(&program), &Array::vector(vec![0.1, 2.0]))?.to_vec(), [3.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn rounded<H: Half, Sh: Shape>(xs: Acc<Array<Sh, f32>>) -> Acc<Array<Sh, f32>> {
    let one = |x: Exp<f32>| {
        let nearest = H::widen(H::narrow(x));
        // Numbers of 16 bits, among them infinities, are themselves.
        cond(nearest.eq(x), x, x + (nearest - x).detach())
    };
    attributed(("rounded", Location::caller()), || map(one, xs))
}
