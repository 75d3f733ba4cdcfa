//! How many random programs a test checks, and from which seed on.
//!
//! By default, a test checks a fixed number of programs from a fixed seed on. `ACCEL_RANDOM_SEED` is another first seed: the seed of
//! case i is the first seed plus i, so the seed that a failure prints repeats it at once. `ACCEL_RANDOM_CASES` is another number.
//! `ACCEL_RANDOM_SECONDS` ends a test earlier, when this time is over, and `ACCEL_RANDOM_PERCENT` after this part of the programs: the same
//! ones on each machine.

use std::ops::Range;
use std::time::{Duration, Instant};

/// The number in an environment variable.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: expected a number")))
}

/// The seeds, in chunks of this size; at least one chunk.
pub fn chunks(seeds: Range<u64>, size: u64) -> impl Iterator<Item = Range<u64>> {
    let first = number("ACCEL_RANDOM_SEED").unwrap_or(seeds.start);
    let cases = number("ACCEL_RANDOM_CASES").unwrap_or(seeds.end - seeds.start);
    let cases = number("ACCEL_RANDOM_PERCENT").map_or(cases, |percent| (cases * percent).div_ceil(100));
    let (start, limit) = (Instant::now(), number("ACCEL_RANDOM_SECONDS").map(Duration::from_secs));
    let chunks = (first..first + cases).step_by(size as usize).map(move |k| k..(k + size).min(first + cases));
    chunks.take_while(move |chunk| chunk.start == first || limit.is_none_or(|limit| start.elapsed() < limit))
}

/// The seeds one by one.
pub fn seeds(cases: u64) -> impl Iterator<Item = u64> {
    chunks(0..cases, 1).flatten()
}

/// Checks that at most this share of some programs has a property, as far as chance allows.
#[track_caller]
pub fn assert_share(what: &str, n: u64, of: u64, most: f64) {
    let expected = most * of as f64;
    let least = if most > 0.0 { 1.0 } else { 0.0 };
    assert!(n as f64 <= expected + 3.0 * expected.sqrt() + least, "{n} of {of} programs {what}");
}
