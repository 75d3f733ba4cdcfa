//! Sorting 10M numbers, with values that move with them.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, native};
use rayon::prelude::*;
use std::time::Instant;

const N: usize = 10_000_000;

pub fn cases() -> Vec<Case> {
    let case = |keys: &str, setup: fn() -> Result<Pair>| {
        let work = format!("sort by key, 10M {keys}, u32 values");
        Case::new("sort", work, "rayon, par_sort_unstable_by_key of pairs", [Asked::Speed(1.5)], setup)
    };
    vec![case("u32", || pair(|x| x, |x| x)), case("f32", || pair(|x| x as i32 as f32 / 1000.0, ordered))]
}

/// An unsigned integer with the order of the number.
fn ordered(x: f32) -> u32 {
    let bits = x.to_bits();
    bits ^ if bits >> 31 == 1 { u32::MAX } else { 1 << 31 }
}

/// `make` makes keys of random numbers, and `order` is what the reference compares.
fn pair<K: Primitive>(make: fn(u32) -> K, order: fn(K) -> u32) -> Result<Pair> {
    let mut state = 1u64;
    let mut random = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    let pairs: Vec<(K, u32)> = (0..N as u32).map(|i| (make(random()), i)).collect();
    let keys: Vector<K> = Array::vector(pairs.iter().map(|p| p.0).collect());
    let values: Vector<u32> = Array::vector(pairs.iter().map(|p| p.1).collect());
    let ours = native(&afun(|keys: Acc<Vector<K>>, values: Acc<Vector<u32>>| sort_by_key(keys, values)))?;
    let mut sorted = pairs.clone();
    sorted.sort_by_key(|p| order(p.0));
    let (found_keys, found_values) = ours.run((&keys, &values))?;
    let found = found_keys.as_slice().iter().zip(found_values.as_slice());
    if !found.eq(sorted.iter().map(|(key, value)| (key, value))) {
        return Err("the results differ from those of a stable sort".into());
    }
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run((&keys, &values))?)),
        // It sorts in place, and the time to restore the order does not count.
        reference: Measure::Elsewhere(Box::new(move || {
            sorted.copy_from_slice(&pairs);
            let start = Instant::now();
            sorted.par_sort_unstable_by_key(|p| order(p.0));
            Ok(start.elapsed())
        })),
    })
}
