//! Counting 16M values: a permutation with (+) whose targets collide.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, native};
use bench_common::data::{LARGE, uniform};
use rayon::prelude::*;

pub fn cases() -> Vec<Case> {
    let case = |name: &str, bins: usize| {
        let work = format!("histogram, 16M values, {name} bins");
        Case::new("histogram", work, "rayon, private histograms", [Asked::Speed(0.8)], move || pair(bins))
    };
    vec![case("256", 256), case("1M", 1 << 20)]
}

fn pair(bins: usize) -> Result<Pair> {
    let values = uniform::<f64>(1, LARGE, 0.0, 1.0);
    // The largest number of the generator is the upper bound itself.
    let bin = |x: &f64| ((x * bins as f64) as i32).min(bins as i32 - 1);
    let bins_of: Vector<i32> = values.iter().map(bin).collect();
    let ours = native(&afun(move |bins_of: Acc<Vector<i32>>| {
        let ones = map(|_| lit::<i32>(1.0), bins_of);
        permute(|a, b| a + b, fill(bins as i64, lit::<i32>(0.0)), |i| (true, bins_of.at(i).cast::<i64>()), ones)
    }))?;
    if ours.run(&bins_of)?.as_slice() != histogram_by_hand(bins_of.as_slice(), bins) {
        return Err("the histograms differ".into());
    }
    let bins_of2 = bins_of.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run(&bins_of)?)),
        reference: Measure::work(move || Ok(histogram_by_hand(bins_of2.as_slice(), bins))),
    })
}

fn histogram_by_hand(bins_of: &[i32], bins: usize) -> Vec<i32> {
    let block = bins_of.len().div_ceil(rayon::current_num_threads());
    let count = |bins_of: &[i32]| {
        let mut counts = vec![0; bins];
        for bin in bins_of {
            counts[*bin as usize] += 1;
        }
        counts
    };
    let add = |mut a: Vec<i32>, b: Vec<i32>| {
        for (a, b) in a.iter_mut().zip(&b) {
            *a += b;
        }
        a
    };
    bins_of.par_chunks(block).map(count).reduce_with(add).unwrap_or_default()
}
