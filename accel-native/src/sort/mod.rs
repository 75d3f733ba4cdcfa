//! Sorting: NOTE [Sorted order] in `accel_core::repr::order` defines the order.

mod columns;
mod radix;
mod record;

use accel_core::repr::order::{f32_key, f64_key};
pub use columns::{Column, Output};
use columns::{Field, Outputs};
pub use radix::OutOfMemory;
use radix::{CACHED, Sorter, Source};
use rayon::prelude::*;
use record::Record;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The elements that can be sorted.
pub trait SortKey: Copy + Sync {
    /// The number of bits of the key.
    const BITS: u32;
    /// The bits of the key that are inverted in the element; `None` if the key does not determine the element.
    const FLIPPED: Option<u64>;
    /// An unsigned integer of the same order.
    fn key(self) -> u64;
}

macro_rules! integers {
    ($($t:ident $unsigned:ident)*) => { $(
        impl SortKey for $t {
            const BITS: u32 = $t::BITS;
            const FLIPPED: Option<u64> = Some($t::MIN as $unsigned as u64);
            #[inline]
            fn key(self) -> u64 {
                (self as $unsigned ^ $t::MIN as $unsigned).into()
            }
        }
    )* };
}
integers!(u8 u8 u16 u16 u32 u32 u64 u64 i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! floats {
    ($($t:ident $key:ident)*) => { $(
        impl SortKey for $t {
            const BITS: u32 = 8 * size_of::<$t>() as u32;
            // All NaN have the same key.
            const FLIPPED: Option<u64> = None;
            #[inline]
            fn key(self) -> u64 {
                $key(self).into()
            }
        }
    )* };
}
floats!(f32 f32_key f64 f64_key);

/// What moves as the keys do.
#[derive(Clone, Copy)]
pub enum Moved<'a> {
    /// The positions of the keys in their rows, as 64-bit integers.
    Positions,
    /// The keys themselves.
    Keys(Column<'a>),
    /// Other elements.
    Elements(Column<'a>),
}

/// Buffers of earlier sorts: the first write to each page of new memory costs more than the write itself.
#[derive(Default)]
pub struct SortMemory {
    narrow: Mutex<Vec<u64>>,
    wide: Mutex<Vec<u128>>,
}

/// Sorts each row of `len` keys, and writes what moves as they do. All columns have as many elements as there are keys,
/// and none of them is empty.
///
/// # Errors
/// There is not enough memory for a copy of the elements.
pub fn sort<T: SortKey>(
    keys: &[T],
    moved: Vec<(Moved, Output)>,
    len: usize,
    memory: &SortMemory,
) -> Result<(), OutOfMemory> {
    let (moved, outputs): (Vec<Moved>, Vec<Output>) = moved.into_iter().unzip();
    let positions = if len <= 1 << u32::BITS { u32::BITS } else { u64::BITS };
    let bits = moved.iter().map(|m| packed_bits::<T>(*m, positions)).sum::<u32>();
    // If the elements do not fit into a record, it has the position from which they are gathered.
    let (bits, gathers) = if bits <= u64::HALF * 2 { (bits, false) } else { (positions, true) };
    let narrow = T::BITS.max(bits) <= u64::HALF;
    let half = if narrow { u64::HALF } else { u128::HALF };
    let layout =
        if gathers { Layout::gathered(&moved, positions) } else { Layout::packed::<T>(&moved, positions, half) };
    match narrow {
        true => rows(keys, &layout, outputs, len, &memory.narrow),
        false => rows(keys, &layout, outputs, len, &memory.wide),
    }
}

/// The number of bits in the payload, where `positions` is that of a position.
fn packed_bits<T: SortKey>(moved: Moved, positions: u32) -> u32 {
    match moved {
        Moved::Positions => positions,
        Moved::Keys(_) if T::FLIPPED.is_some() => 0,
        Moved::Keys(column) | Moved::Elements(column) => column.bits(),
    }
}

/// The places of elements in records.
struct Layout<'a> {
    /// The parts of the payload, each from its first bit on: elements of a column, or positions.
    packed: Vec<(Option<Column<'a>>, u32)>,
    /// How the elements of each result are found.
    fields: Vec<Field<'a>>,
}

impl<'a> Layout<'a> {
    /// All elements are in the record.
    fn packed<T: SortKey>(moved: &[Moved<'a>], positions: u32, half: u32) -> Layout<'a> {
        let mut layout = Layout { packed: vec![], fields: vec![] };
        let mut shift = 0;
        for m in moved {
            let column = match (*m, T::FLIPPED) {
                (Moved::Keys(_), Some(flipped)) => {
                    layout.fields.push(Field::Bits { shift: half, mask: u64::MAX, flipped });
                    continue;
                }
                (Moved::Positions, _) => None,
                (Moved::Keys(column) | Moved::Elements(column), _) => Some(column),
            };
            let bits = packed_bits::<T>(*m, positions);
            layout.packed.push((column, shift));
            layout.fields.push(Field::Bits { shift, mask: u64::MAX >> (u64::BITS - bits), flipped: 0 });
            shift += bits;
        }
        layout
    }

    /// The payload is the position of the elements.
    fn gathered(moved: &[Moved<'a>], positions: u32) -> Layout<'a> {
        let field = |m: &Moved<'a>| match m {
            Moved::Positions => Field::Bits { shift: 0, mask: u64::MAX >> (u64::BITS - positions), flipped: 0 },
            Moved::Keys(column) | Moved::Elements(column) => Field::Gathered(*column),
        };
        Layout { packed: vec![(None, 0)], fields: moved.iter().map(field).collect() }
    }

    /// The layout of a row.
    fn row(&self, row: Range<usize>) -> Layout<'a> {
        let column = |c: Column<'a>| c.range(row.clone());
        let field = |f: &Field<'a>| match f {
            Field::Gathered(c) => Field::Gathered(column(*c)),
            other => *other,
        };
        Layout {
            packed: self.packed.iter().map(|(c, shift)| (c.map(column), *shift)).collect(),
            fields: self.fields.iter().map(field).collect(),
        }
    }
}

/// The records of a row.
struct Row<'a, T> {
    keys: &'a [T],
    layout: Layout<'a>,
}

impl<T: SortKey, R: Record> Source<R> for Row<'_, T> {
    fn fill(&self, range: Range<usize>, payload: bool, to: &mut Vec<R>) {
        to.clear();
        to.extend(self.keys[range.clone()].iter().map(|k| R::bits(k.key(), R::HALF)));
        for (column, shift) in self.layout.packed.iter().filter(|_| payload) {
            match column {
                Some(column) => column.range(range.clone()).add_to(to, *shift),
                None => to.iter_mut().zip(range.clone()).for_each(|(r, i)| *r = *r | R::bits(i as u64, *shift)),
            }
        }
    }
}

/// The number of rows below which the threads share one row after the other, if the rows are long.
const FEW_ROWS: usize = 16;

fn rows<T: SortKey, R: Record>(
    keys: &[T],
    layout: &Layout,
    outputs: Vec<Output>,
    len: usize,
    memory: &Mutex<Vec<R>>,
) -> Result<(), OutOfMemory> {
    let row = |sorter: &mut Sorter<R>, (start, outputs): (usize, Vec<Output>)| {
        let row = start..start + len;
        let source = Row { keys: &keys[row.clone()], layout: layout.row(row) };
        let to = source.layout.fields.iter().copied().zip(outputs).collect();
        sorter.sort(len, &source, Outputs(to))
    };
    if len > CACHED && keys.len() / len < FEW_ROWS {
        crate::threads::prepare();
        let mut sorter = Sorter::default();
        // A panic cannot leave the buffer in an inconsistent state.
        sorter.partitioned = std::mem::take(&mut *memory.lock().unwrap_or_else(PoisonError::into_inner));
        let done = parts(outputs, keys.len(), len).into_iter().try_for_each(|part| row(&mut sorter, part));
        *memory.lock().unwrap_or_else(PoisonError::into_inner) = sorter.partitioned;
        return done;
    }
    // A task has whole rows, and enough elements to be worthwhile.
    let task = len * CACHED.div_ceil(len);
    let all = |sorter: &mut Sorter<R>, (start, outputs): (usize, Vec<Output>)| {
        let n = task.min(keys.len() - start);
        parts(outputs, n, len).into_iter().try_for_each(|(first, outputs)| row(sorter, (start + first, outputs)))
    };
    if keys.len() <= task {
        return all(&mut Sorter::default(), (0, outputs));
    }
    crate::threads::prepare();
    parts(outputs, keys.len(), task).into_par_iter().try_for_each_init(Sorter::default, all)
}

/// Parts of `n` elements with `size` elements each: where each starts, and its outputs.
fn parts(outputs: Vec<Output>, n: usize, size: usize) -> Vec<(usize, Vec<Output>)> {
    let mut rest = outputs;
    let starts = (0..n).step_by(size);
    let part = |start: usize| {
        let split = std::mem::take(&mut rest).into_iter().map(|o| o.split_at(size.min(n - start)));
        let (own, others) = split.unzip();
        rest = others;
        (start, own)
    };
    starts.map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::radix::FEW;
    use super::*;
    use accel_core::repr::Scalar;
    use accel_core::repr::scalar::ScalarElt;
    use std::mem::MaybeUninit;

    /// Pseudo-random numbers (splitmix64).
    fn random(seed: u64) -> impl Iterator<Item = u64> {
        (seed..).map(|i| {
            let z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
    }

    /// Sorts rows, and compares with a stable sort of the standard library. Positions and columns of several widths
    /// move with the keys, in several combinations.
    fn check<T: SortKey + ScalarElt>(keys: &[T], len: usize) {
        let n = keys.len();
        let positions: Vec<usize> = (0..n)
            .step_by(len)
            .flat_map(|row| {
                let mut positions: Vec<usize> = (row..row + len).collect();
                positions.sort_by(|i, k| keys[*i].to_scalar().sort_order(keys[*k].to_scalar()));
                positions
            })
            .collect();
        let wide: Vec<u64> = random(5).take(n).collect();
        let bytes: Vec<u8> = wide.iter().map(|x| *x as u8).collect();
        let halves: Vec<u32> = wide.iter().map(|x| *x as u32).collect();
        // In records of 64 and of 128 bits, and in none.
        for which in [0b0001, 0b0100, 0b1100, 0b0010, 0b1111] {
            let chosen = |k: u32| which >> k & 1 == 1;
            let mut to = [vec![MaybeUninit::new(0u64); n], vec![MaybeUninit::new(0u64); n]];
            let (mut to_bytes, mut to_halves) = (vec![MaybeUninit::new(0u8); n], vec![MaybeUninit::new(0u32); n]);
            let [to_positions, to_wide] = &mut to;
            let all = [
                (Moved::Positions, Output::U64(to_positions)),
                (Moved::Elements(Column::U64(&wide)), Output::U64(to_wide)),
                (Moved::Elements(Column::U8(&bytes)), Output::U8(&mut to_bytes)),
                (Moved::Elements(Column::U32(&halves)), Output::U32(&mut to_halves)),
            ];
            let moved: Vec<_> = (0..).zip(all).filter(|(k, _)| chosen(*k)).map(|(_, m)| m).collect();
            sort(keys, moved, len, &SortMemory::default()).unwrap();
            for (place, i) in positions.iter().enumerate() {
                let message = || format!("combination {which}, {} rows of {len} {}", n / len, T::SCALAR);
                // SAFETY: all were initialised above.
                unsafe {
                    assert!(!chosen(0) || to[0][place].assume_init() == (i % len) as u64, "{}", message());
                    assert!(!chosen(1) || to[1][place].assume_init() == wide[*i], "{}", message());
                    assert!(!chosen(2) || to_bytes[place].assume_init() == bytes[*i], "{}", message());
                    assert!(!chosen(3) || to_halves[place].assume_init() == halves[*i], "{}", message());
                }
            }
        }
    }

    #[test]
    fn rows_of_all_lengths() {
        for len in [1, 2, 3, 100, FEW, CACHED, CACHED + 1, 150_000] {
            for rows in [1, 3, 40] {
                if len * rows > 500_000 {
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
        let n = 140_000;
        macro_rules! each {
            ($($t:ident $make:expr;)*) => { $({
                let make: fn(u64) -> $t = $make;
                let keys = |f: fn(u64) -> u64| random(7).take(n).map(|x| make(f(x))).collect::<Vec<_>>();
                check(&keys(|x| x), n);
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

    /// Keys that differ in few bits: the first ones decide about the bucket, and the others are sorted within it.
    #[test]
    fn keys_of_few_bits() {
        for (bits, n) in (1..=14).flat_map(|bits| [(bits, 20_000), (bits, 140_000)]) {
            check(&random(7).take(n).map(|x| x >> (64 - bits)).collect::<Vec<_>>(), n);
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

    /// Keys that determine their elements are not moved a second time.
    #[test]
    fn keys_as_elements() {
        let numbers: Vec<u64> = random(3).take(70_000).collect();
        macro_rules! each {
            ($($t:ident $variant:ident $bits:ident $make:expr;)*) => { $({
                let make: fn(u64) -> $t = $make;
                let keys: Vec<$t> = numbers.iter().map(|x| make(*x)).collect();
                let bits: Vec<$bits> = keys.iter().map(|x| x.to_scalar().bits() as $bits).collect();
                let mut expected: Vec<usize> = (0..keys.len()).collect();
                expected.sort_by(|i, k| keys[*i].to_scalar().sort_order(keys[*k].to_scalar()));
                for more in [false, true] {
                    let mut to = vec![MaybeUninit::new(0); keys.len()];
                    let mut others = vec![MaybeUninit::new(0); keys.len()];
                    let mut moved = vec![(Moved::Keys(Column::$variant(&bits)), Output::$variant(&mut to))];
                    if more {
                        moved.push((Moved::Elements(Column::U64(&numbers)), Output::U64(&mut others)));
                    }
                    sort(&keys, moved, keys.len(), &SortMemory::default()).unwrap();
                    // SAFETY: all were initialised above.
                    let right = |k: usize, i: usize| unsafe {
                        to[k].assume_init() == bits[i] && (!more || others[k].assume_init() == numbers[i])
                    };
                    assert!(expected.iter().enumerate().all(|(k, i)| right(k, *i)), stringify!($t));
                }
            })* };
        }
        each! {
            u8 U8 u8 |x| x as u8;
            i16 U16 u16 |x| x as i16;
            u32 U32 u32 |x| x as u32;
            i32 U32 u32 |x| x as i32;
            i64 U64 u64 |x| x as i64;
            f32 U32 u32 |x| [0.0, -0.0, 1.5, f32::NAN, -f32::NAN][x as usize % 5];
            f64 U64 u64 |x| x as i64 as f64 / 1e9;
        }
    }
}
