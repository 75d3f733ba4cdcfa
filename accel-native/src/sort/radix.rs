//! Radix sort of records.
//!
//! NOTE [Two kinds of radix sort]: a radix sort that begins with the lowest digit reads and writes all records for each
//! digit: for 10M records, this is a transfer of 160 MB through memory, four times for keys of 32 bits. So the records are first
//! partitioned by their highest digit, into buckets that fit into the cache of a core. Then each bucket is sorted by
//! the other digits, from the lowest one, which moves its records within the cache. (10M keys of 32 bits with payload,
//! two threads: 140 ms instead of 280 ms.)
//!
//! Threads partition parts of the records, each into a part of the memory for partitioned records. A bucket consists of
//! a piece of each part. Digits count from the highest bit in which keys differ, so small integers, and numbers
//! of similar magnitude, are spread over buckets as well. A bucket that is too large for the cache is sorted in the same way as
//! all records. All steps are stable.

use super::OutOfMemory;
use super::record::{Record, Varying};
use rayon::prelude::*;
use std::mem::{MaybeUninit, swap};

/// The number of records that are sorted in the cache of a core.
pub const CACHED: usize = 1 << 14;
/// Below this number of records, comparing them is faster.
pub const FEW: usize = 256;
/// The number of records of a bucket, if keys are evenly distributed.
const BUCKET: usize = CACHED / 2;
/// The largest number of bits of a digit: the counters of all digits fit into the fastest cache.
const MOST_BITS: u32 = 11;
/// The largest number of bits for buckets: with more, the places where a thread writes do not fit into its caches.
const MOST_BUCKET_BITS: u32 = 10;
/// The least number of records of a part.
const PART: usize = 1 << 16;
/// The largest number of parts.
const PARTS: usize = 16;

/// Where sorted records go.
pub trait Sink<R>: Send + Sized {
    /// The places of the first `n` records, and those of the others.
    fn split_at(self, n: usize) -> (Self, Self);
    /// Takes all records in sorted order.
    fn write(self, records: impl Iterator<Item = R>);
}

/// The payloads, as positions.
impl<R: Record> Sink<R> for &mut [MaybeUninit<i64>] {
    fn split_at(self, n: usize) -> (Self, Self) {
        self.split_at_mut(n)
    }
    fn write(self, records: impl Iterator<Item = R>) {
        self.iter_mut().zip(records).for_each(|(to, r)| {
            to.write(r.payload() as i64);
        });
    }
}

/// The buffers of a sort.
#[derive(Default)]
pub struct Sorter<R> {
    /// Records that are sorted in the cache.
    cached: Vec<R>,
    /// The other half of the work space in the cache.
    other: Vec<R>,
    /// Records that are partitioned.
    pub partitioned: Vec<R>,
}

impl<R: Record> Sorter<R> {
    /// Sorts `n` records, which `load` makes.
    pub fn sort(&mut self, n: usize, load: &(impl Fn(usize) -> R + Sync), to: impl Sink<R>) -> Result<(), OutOfMemory> {
        if n > CACHED {
            return self.by_buckets(n, load, to);
        }
        self.cached.clear();
        reserve(&mut self.cached, n)?;
        self.cached.extend((0..n).map(load));
        self.in_cache()?;
        to.write(self.cached.iter().copied());
        Ok(())
    }

    /// Sorts the cached records.
    fn in_cache(&mut self) -> Result<(), OutOfMemory> {
        let n = self.cached.len();
        if n < FEW {
            self.cached.sort_by_key(|r| r.key());
            return Ok(());
        }
        let Some(Varying { low, high }) = Varying::of(differences(&self.cached)) else { return Ok(()) };
        reserve(&mut self.other, n)?;
        self.other.resize(n, R::default());
        let passes = (high - low).div_ceil(n.ilog2().min(MOST_BITS));
        let bits = (high - low).div_ceil(passes);
        for pass in 0..passes {
            let shift = low + pass * bits;
            scatter(&self.cached, &mut self.other, shift, bits.min(high - shift));
            swap(&mut self.cached, &mut self.other);
        }
        Ok(())
    }

    /// Sorts `n` records by partitioning them.
    fn by_buckets(
        &mut self,
        n: usize,
        load: &(impl Fn(usize) -> R + Sync),
        to: impl Sink<R>,
    ) -> Result<(), OutOfMemory> {
        let part = n.div_ceil((n / PART).clamp(1, PARTS));
        let range = |k: usize| k * part..n.min((k + 1) * part);
        let first = load(0);
        let differences = |k: usize| range(k).fold(R::default(), |all, i| all | load(i) ^ first);
        let differences = (0..n.div_ceil(part)).into_par_iter().map(differences).reduce(R::default, |x, y| x | y);
        let Some(Varying { low, high }) = Varying::of(differences) else {
            to.write((0..n).map(load));
            return Ok(());
        };
        let bits = (n / BUCKET).ilog2().clamp(1, MOST_BUCKET_BITS).min(high - low);
        reserve(&mut self.partitioned, n)?;
        self.partitioned.resize(n, R::default());
        let memory = self.partitioned.par_chunks_mut(part).enumerate();
        let parts: Vec<Part<R>> = memory.map(|(k, to)| Part::new(range(k).map(load), to, high - bits, bits)).collect();
        let (mut rest, mut buckets) = (to, vec![]);
        for digit in 0..1 << bits {
            let size = parts.iter().map(|p| p.bucket(digit).len()).sum();
            let (own, others) = rest.split_at(size);
            rest = others;
            if size > 0 {
                buckets.push((digit, size, own));
            }
        }
        buckets.into_par_iter().try_for_each_init(Sorter::default, |sorter, (digit, size, to)| {
            sorter.bucket(parts.iter().map(|p| p.bucket(digit)), size, low < high - bits, to)
        })
    }

    /// Sorts a bucket, which consists of pieces. If not `differ`, all of its keys are equal.
    fn bucket<'p>(
        &mut self,
        pieces: impl Iterator<Item = &'p [R]>,
        size: usize,
        differ: bool,
        to: impl Sink<R>,
    ) -> Result<(), OutOfMemory>
    where
        R: 'p,
    {
        if !differ {
            to.write(pieces.flatten().copied());
            return Ok(());
        }
        self.cached.clear();
        reserve(&mut self.cached, size)?;
        pieces.for_each(|piece| self.cached.extend_from_slice(piece));
        if size > 4 * CACHED {
            return self.large_bucket(to);
        }
        self.in_cache()?;
        to.write(self.cached.iter().copied());
        Ok(())
    }

    /// Sorts the cached records, which are too many for the cache. (A function of its own, because the type of the
    /// closure would otherwise depend on that of the pieces, and so on.)
    fn large_bucket(&mut self, to: impl Sink<R>) -> Result<(), OutOfMemory> {
        let records = std::mem::take(&mut self.cached);
        self.by_buckets(records.len(), &|i| records[i], to)
    }
}

/// A part of all records, partitioned.
struct Part<'p, R> {
    records: &'p [R],
    /// The end of each bucket.
    ends: Vec<usize>,
}

impl<'p, R: Record> Part<'p, R> {
    /// Partitions records by the digit of `bits` bits from `shift` on.
    fn new(records: impl Iterator<Item = R> + Clone, to: &'p mut [R], shift: u32, bits: u32) -> Part<'p, R> {
        let mask = (1 << bits) - 1;
        let mut ends = vec![0; 1 << bits];
        records.clone().for_each(|r| ends[r.digit(shift, mask)] += 1);
        to_starts(&mut ends);
        for r in records {
            let place = &mut ends[r.digit(shift, mask)];
            to[*place] = r;
            *place += 1;
        }
        Part { records: to, ends }
    }

    fn bucket(&self, digit: usize) -> &'p [R] {
        let start = digit.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.records[start..self.ends[digit]]
    }
}

/// Moves records to the order of the digit of `bits` bits from `shift` on.
fn scatter<R: Record>(from: &[R], to: &mut [R], shift: u32, bits: u32) {
    let mask = (1 << bits) - 1;
    let mut places = [0u32; 1 << MOST_BITS];
    let places = &mut places[..1 << bits];
    from.iter().for_each(|r| places[r.digit(shift, mask)] += 1);
    to_starts(places);
    for r in from {
        let place = &mut places[r.digit(shift, mask)];
        to[*place as usize] = *r;
        *place += 1;
    }
}

/// Replaces sizes by the sums of those before them.
fn to_starts<N: Copy + Default + std::ops::AddAssign>(sizes: &mut [N]) {
    let mut sum = N::default();
    for n in sizes {
        let size = std::mem::replace(n, sum);
        sum += size;
    }
}

/// A record with ones where some of the records differ from the first one.
fn differences<R: Record>(records: &[R]) -> R {
    let first = records.first().copied().unwrap_or_default();
    records.iter().fold(R::default(), |all, r| all | *r ^ first)
}

/// Makes room for `n` elements in all.
fn reserve<R>(buffer: &mut Vec<R>, n: usize) -> Result<(), OutOfMemory> {
    let more = n.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| OutOfMemory(n))?;
    accel_pages::advise(buffer.spare_capacity_mut());
    Ok(())
}
