//! Sorting: NOTE [Sorted order] in `accel_core::repr::order` defines the order.

use accel_core::repr::order::{f32_key, f64_key};
use rayon::prelude::*;
use std::mem::MaybeUninit;

/// The elements that can be sorted: they have keys, which are unsigned integers of the same order.
pub trait SortKey: Copy + Sync {
    /// The key.
    type Key: Ord;
    /// The key of an element.
    fn key(self) -> Self::Key;
}

macro_rules! sort_keys {
    ($($t:ident $key:ident $f:expr;)*) => { $(
        impl SortKey for $t {
            type Key = $key;
            #[inline]
            fn key(self) -> $key {
                let f: fn($t) -> $key = $f;
                f(self)
            }
        }
    )* };
}
sort_keys! {
    u8 u8 |x| x;
    u16 u16 |x| x;
    u32 u32 |x| x;
    u64 u64 |x| x;
    i8 u8 |x| x as u8 ^ 1 << 7;
    i16 u16 |x| x as u16 ^ 1 << 15;
    i32 u32 |x| x as u32 ^ 1 << 31;
    i64 u64 |x| x as u64 ^ 1 << 63;
    f32 u32 f32_key;
    f64 u64 f64_key;
}

/// For each row of `len` elements, writes the positions of its elements in sorted order. Neither `keys` nor `len` is
/// empty.
pub fn argsort<T: SortKey>(keys: &[T], to: &mut [MaybeUninit<i64>], len: usize) {
    keys.par_chunks(len).zip(to.par_chunks_mut(len)).for_each(|(keys, to)| {
        let mut positions: Vec<usize> = (0..len).collect();
        positions.sort_by_key(|i| keys[*i].key());
        to.iter_mut().zip(positions).for_each(|(to, i)| {
            to.write(i as i64);
        });
    });
}
