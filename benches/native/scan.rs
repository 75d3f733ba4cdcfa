//! Prefix sums of 16M numbers.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::data::{LARGE, uniform};
use rayon::prelude::*;
use std::ops::Add;

pub fn cases() -> Vec<Case> {
    let case = |precision: &str, setup: fn() -> Result<Pair>| {
        let work = format!("prefix sum, 16M {precision}");
        Case::new("scan", work, "rayon, two passes", [Asked::Speed(0.9)], setup)
    };
    let gradient = |precision: &str, setup: fn() -> Result<Pair>| {
        let work = format!("gradient of a prefix sum, 16M {precision}");
        Case::new("scan", work, "its own primal", [Asked::Cost(2.0)], setup)
    };
    vec![
        case("f32", pair::<f32>),
        case("f64", pair::<f64>),
        gradient("f32", gradient_pair::<f32>),
        gradient("f64", gradient_pair::<f64>),
    ]
}

/// The gradient of a weighted sum of the prefix sums, beside the prefix sums.
fn gradient_pair<T: Floating + Into<f64> + Default + Add<Output = T>>() -> Result<Pair> {
    let (xs, weights) = (Array::vector(uniform(1, LARGE, 0.0, 1.0)), Array::vector(uniform::<T>(2, LARGE, 0.0, 1.0)));
    let program = afun(|xs: Acc<Vector<T>>| scanl1(|x, y| x + y, xs));
    let (primal, ours) = (native(&program)?, native(&vjp(&program))?);
    let mut from_the_end = weights.to_vec();
    from_the_end.reverse();
    let mut expected = scan_by_hand(&from_the_end);
    expected.reverse();
    check_close(ours.run((&xs, &weights))?.as_slice(), &expected, 1e-3)?;
    let xs2 = xs.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run((&xs, &weights))?)),
        reference: Measure::work(move || Ok(primal.run(&xs2)?)),
    })
}

fn pair<T: Floating + Into<f64> + Default + Add<Output = T>>() -> Result<Pair> {
    let xs: Vector<T> = Array::vector(uniform(1, LARGE, 0.0, 1.0));
    let ours = native(&afun(|xs: Acc<Vector<T>>| scanl1(|x, y| x + y, xs)))?;
    check_close(ours.run(&xs)?.as_slice(), &scan_by_hand(xs.as_slice()), 1e-3)?;
    let xs2 = xs.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run(&xs)?)),
        reference: Measure::work(move || Ok(scan_by_hand(xs2.as_slice()))),
    })
}

/// The sums of one block for each thread, then the prefix sums of each block, starting with the sum of the blocks
/// before it.
fn scan_by_hand<T: Copy + Default + Send + Sync + Add<Output = T>>(xs: &[T]) -> Vec<T> {
    const LANES: usize = 32;
    let block = xs.len().div_ceil(rayon::current_num_threads());
    let sum = |xs: &[T]| {
        let (xs, rest) = xs.as_chunks::<LANES>();
        let mut lanes = [T::default(); LANES];
        for xs in xs {
            for (lane, x) in lanes.iter_mut().zip(xs) {
                *lane = *lane + *x;
            }
        }
        lanes.iter().chain(rest).fold(T::default(), |sum, x| sum + *x)
    };
    let sums: Vec<T> = xs.par_chunks(block).map(sum).collect();
    let mut starts = vec![T::default()];
    starts.extend(sums.iter().scan(T::default(), |total, sum| {
        *total = *total + *sum;
        Some(*total)
    }));
    let mut out = vec![T::default(); xs.len()];
    out.par_chunks_mut(block).zip(xs.par_chunks(block)).zip(&starts).for_each(|((out, xs), start)| {
        let mut sum = *start;
        for (out, x) in out.iter_mut().zip(xs) {
            sum = sum + *x;
            *out = sum;
        }
    });
    out
}
