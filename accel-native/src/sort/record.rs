//! Records: a key and what moves with it, in one integer.

use std::ops::{BitOr, BitXor};

/// An unsigned integer whose upper half is a key, and whose lower half, the payload, moves with it.
pub trait Record: Copy + Default + Send + Sync + BitOr<Output = Self> + BitXor<Output = Self> {
    /// The number of bits of a half.
    const HALF: u32;
    /// A record with these bits from `shift` on.
    fn bits(x: u64, shift: u32) -> Self;
    /// The bits from `shift` on, up to 64.
    fn upper_bits(self, shift: u32) -> u64;
    /// The key.
    fn key(self) -> u64 {
        self.upper_bits(Self::HALF)
    }
    /// What moves with the key.
    fn payload(self) -> u64;
    /// The bits of the key from `shift` on.
    fn digit(self, shift: u32, mask: usize) -> usize {
        self.upper_bits(Self::HALF + shift) as usize & mask
    }
}

macro_rules! records {
    ($($t:ident $half:ident)*) => { $(
        impl Record for $t {
            const HALF: u32 = $half::BITS;
            #[inline]
            fn bits(x: u64, shift: u32) -> Self {
                $t::from(x) << shift
            }
            #[inline]
            fn upper_bits(self, shift: u32) -> u64 {
                (self >> shift) as u64
            }
            #[inline]
            fn payload(self) -> u64 {
                (self as $half).into()
            }
        }
    )* };
}
records!(u64 u32 u128 u64);

/// The bits of the keys that are not equal in all records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Varying {
    /// The lowest one.
    pub low: u32,
    /// One after the highest one.
    pub high: u32,
}

impl Varying {
    /// From a record whose key has ones where keys differ; `None` if all keys are equal.
    pub fn of<R: Record>(differences: R) -> Option<Varying> {
        let key = differences.key();
        (key != 0).then(|| Varying { low: key.trailing_zeros(), high: u64::BITS - key.leading_zeros() })
    }
}
