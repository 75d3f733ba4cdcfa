//! Sorting: NOTE [Sorted order] in `accel_core::repr::order` defines the order.

mod radix;
mod record;

use accel_core::repr::order::{f32_key, f64_key};
use radix::{CACHED, Sorter};
use rayon::prelude::*;
use record::Record;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// There is not enough memory for a buffer of this number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory(pub usize);

/// The elements that can be sorted.
pub trait SortKey: Copy + Sync {
    /// The number of bits of the key.
    const BITS: u32;
    /// An unsigned integer of the same order.
    fn key(self) -> u64;
}

macro_rules! sort_keys {
    ($($t:ident $f:expr;)*) => { $(
        impl SortKey for $t {
            const BITS: u32 = 8 * size_of::<$t>() as u32;
            #[inline]
            fn key(self) -> u64 {
                let f: fn($t) -> u64 = $f;
                f(self)
            }
        }
    )* };
}
sort_keys! {
    u8 |x| x.into();
    u16 |x| x.into();
    u32 |x| x.into();
    u64 |x| x;
    i8 |x| (x as u8 ^ 1 << 7).into();
    i16 |x| (x as u16 ^ 1 << 15).into();
    i32 |x| (x as u32 ^ 1 << 31).into();
    i64 |x| x as u64 ^ 1 << 63;
    f32 |x| f32_key(x).into();
    f64 f64_key;
}

/// Buffers of earlier sorts: the first write to each page of new memory costs more than the write itself.
#[derive(Default)]
pub struct SortMemory {
    narrow: Mutex<Vec<u64>>,
    wide: Mutex<Vec<u128>>,
}

/// For each row of `len` elements, writes the positions of its elements in sorted order. Neither `keys` nor `len` is
/// empty.
///
/// # Errors
/// There is not enough memory for a copy of the elements.
pub fn argsort<T: SortKey>(
    keys: &[T],
    to: &mut [MaybeUninit<i64>],
    len: usize,
    memory: &SortMemory,
) -> Result<(), OutOfMemory> {
    // A record has a key and the position of an element in its row.
    if T::BITS <= u64::HALF && len <= 1 << u64::HALF {
        rows(keys, to, len, &memory.narrow)
    } else {
        rows(keys, to, len, &memory.wide)
    }
}

/// The number of rows below which the threads share one row after the other, if the rows are long.
const FEW_ROWS: usize = 16;

fn rows<T: SortKey, R: Record>(
    keys: &[T],
    to: &mut [MaybeUninit<i64>],
    len: usize,
    memory: &Mutex<Vec<R>>,
) -> Result<(), OutOfMemory> {
    let row = |sorter: &mut Sorter<R>, keys: &[T], to: &mut [MaybeUninit<i64>]| {
        sorter.sort(len, &|i| R::new(keys[i].key(), i as u64), to)
    };
    if len > CACHED && keys.len() / len < FEW_ROWS {
        let mut sorter = Sorter::default();
        // A panic cannot leave the buffer in an inconsistent state.
        sorter.partitioned = std::mem::take(&mut *memory.lock().unwrap_or_else(PoisonError::into_inner));
        let done = keys.chunks(len).zip(to.chunks_mut(len)).try_for_each(|(keys, to)| row(&mut sorter, keys, to));
        *memory.lock().unwrap_or_else(PoisonError::into_inner) = sorter.partitioned;
        return done;
    }
    // Whole rows, with enough elements to make a task worth it.
    let task = len * CACHED.div_ceil(len);
    let all = |sorter: &mut Sorter<R>, (keys, to): (&[T], &mut [MaybeUninit<i64>])| {
        keys.chunks(len).zip(to.chunks_mut(len)).try_for_each(|(keys, to)| row(sorter, keys, to))
    };
    if keys.len() <= task {
        return all(&mut Sorter::default(), (keys, to));
    }
    keys.par_chunks(task).zip(to.par_chunks_mut(task)).try_for_each_init(Sorter::default, all)
}

#[cfg(test)]
mod tests {
    use super::radix::FEW;
    use super::*;
    use accel_core::repr::Scalar;
    use accel_core::repr::scalar::ScalarElt;

    /// Pseudo-random numbers (splitmix64).
    fn random(seed: u64) -> impl Iterator<Item = u64> {
        (seed..).map(|i| {
            let z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
    }

    fn check<T: SortKey + ScalarElt>(keys: &[T], len: usize) {
        let mut to = vec![MaybeUninit::new(-1); keys.len()];
        argsort(keys, &mut to, len, &SortMemory::default()).unwrap();
        for (keys, to) in keys.chunks(len).zip(to.chunks(len)) {
            let mut expected: Vec<usize> = (0..len).collect();
            expected.sort_by(|i, k| keys[*i].to_scalar().sort_order(keys[*k].to_scalar()));
            // SAFETY: all were initialised above.
            let found = to.iter().map(|x| unsafe { x.assume_init() } as usize);
            assert!(found.eq(expected), "{} rows of {len} {}", keys.len() / len, T::SCALAR);
        }
    }

    #[test]
    fn rows_of_all_lengths() {
        for len in [1, 2, 3, 100, FEW, CACHED - 1, CACHED, CACHED + 1, 100_000, 1_100_000] {
            for rows in [1, 3, 40] {
                if len * rows > 3_000_000 {
                    continue;
                }
                let random: Vec<u64> = random(len as u64).take(len * rows).collect();
                check(&random.iter().map(|x| *x as u32).collect::<Vec<_>>(), len);
                check(&random.iter().map(|x| *x as i64 >> (x % 60)).collect::<Vec<_>>(), len);
                check(&random.iter().map(|x| f32::from_bits(*x as u32)).collect::<Vec<_>>(), len);
            }
        }
    }

    /// Keys of all types: evenly distributed, of similar magnitude, few different ones, or nearly all equal.
    #[test]
    fn distributions() {
        let n = 300_000;
        macro_rules! each {
            ($($t:ident $make:expr;)*) => { $({
                let make: fn(u64) -> $t = $make;
                let keys = |f: fn(u64) -> u64| random(7).take(n).map(|x| make(f(x))).collect::<Vec<_>>();
                check(&keys(|x| x), n);
                check(&keys(|x| x >> 50), n);
                check(&keys(|x| x % 3), n);
                check(&keys(|x| if x % 1000 == 1 { x } else { 77 }), n);
                check(&keys(|_| 5), n);
            })* };
        }
        each! {
            u8 |x| x as u8;
            i8 |x| x as i8;
            u16 |x| x as u16;
            i16 |x| x as i16;
            u32 |x| x as u32;
            i32 |x| x as i32;
            u64 |x| x;
            i64 |x| x as i64;
            f32 |x| x as i32 as f32 / 1000.0;
            f64 |x| x as i64 as f64 / 1e9;
        }
    }

    #[test]
    fn keys_are_those_of_scalars() {
        let same = |x: Scalar, key: u64| assert_eq!(x.sort_key(), key, "{x:?}");
        for x in random(1).take(1000) {
            same(Scalar::U8(x as u8), SortKey::key(x as u8));
            same(Scalar::I8(x as i8), SortKey::key(x as i8));
            same(Scalar::U16(x as u16), SortKey::key(x as u16));
            same(Scalar::I16(x as i16), SortKey::key(x as i16));
            same(Scalar::U32(x as u32), SortKey::key(x as u32));
            same(Scalar::I32(x as i32), SortKey::key(x as i32));
            same(Scalar::U64(x), SortKey::key(x));
            same(Scalar::I64(x as i64), SortKey::key(x as i64));
            same(Scalar::F32(f32::from_bits(x as u32)), SortKey::key(f32::from_bits(x as u32)));
            same(Scalar::F64(f64::from_bits(x)), SortKey::key(f64::from_bits(x)));
        }
    }

    /// Before the positions of a row need more than 32 bits, both kinds of records give the same order.
    #[test]
    fn records_of_both_widths() {
        let keys: Vec<u32> = random(3).take(200_000).map(|x| (x % 1000) as u32).collect();
        let mut found = [vec![MaybeUninit::new(-1); keys.len()], vec![MaybeUninit::new(-1); keys.len()]];
        rows::<u32, u64>(&keys, &mut found[0], keys.len(), &Mutex::default()).unwrap();
        rows::<u32, u128>(&keys, &mut found[1], keys.len(), &Mutex::default()).unwrap();
        // SAFETY: all were initialised above.
        assert!((0..keys.len()).all(|i| unsafe { found[0][i].assume_init() == found[1][i].assume_init() }));
    }
}
