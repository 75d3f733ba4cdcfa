//! axpy, dot and sum of 16M numbers: how much of the memory's bandwidth they reach.

use accel::prelude::*;
use bench_common::axpy::axpy;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::data::{CHUNK, LARGE, uniform};
use rayon::prelude::*;
use std::iter::Sum;
use std::ops::{Add, Mul};

/// The number of accumulators of a hand-written loop: 256 bytes, four of the widest registers.
const F32_LANES: usize = 64;
const F64_LANES: usize = 32;

/// The size of an array for which waking threads hardly pays.
const MEDIUM: usize = 1 << 20;

pub fn cases() -> Vec<Case> {
    let mut cases = cases_in::<f32, F32_LANES>("f32");
    cases.extend(cases_in::<f64, F64_LANES>("f64"));
    cases.push(Case::new("bandwidth", "sum, 1M f32", "rayon, explicit lanes", [], || sums::<f32, F32_LANES>(MEDIUM)));
    cases
}

fn cases_in<T, const LANES: usize>(precision: &str) -> Vec<Case>
where
    T: Floating + Into<f64> + Default + Add<Output = T> + Mul<Output = T> + Sum,
{
    let case = |work: &str, setup: fn() -> Result<Pair>| {
        Case::new("bandwidth", format!("{work}, 16M {precision}"), "rayon, explicit lanes", [Asked::Speed(0.95)], setup)
    };
    vec![
        case("axpy", || {
            let (xs, ys) = inputs::<T>();
            let a = T::from_f64(0.5);
            let axpy = native(&afun(axpy::<T>))?;
            let scale = Array::scalar(a);
            check_close(
                axpy.run((&scale, &xs, &ys))?.as_slice(),
                &axpy_by_hand(a, xs.as_slice(), ys.as_slice()),
                1e-6,
            )?;
            let (xs2, ys2) = (xs.clone(), ys.clone());
            Ok(Pair {
                ours: Measure::work(move || Ok(axpy.run((&scale, &xs, &ys))?)),
                reference: Measure::work(move || Ok(axpy_by_hand(a, xs2.as_slice(), ys2.as_slice()))),
            })
        }),
        case("dot", || {
            let (xs, ys) = inputs::<T>();
            let dotp = native(&afun(|xs: Acc<Vector<T>>, ys: Acc<Vector<T>>| dot(xs, ys)))?;
            let by_hand = dot_by_hand::<T, LANES>(xs.as_slice(), ys.as_slice());
            check_close(dotp.run((&xs, &ys))?.as_slice(), &[by_hand], 1e-4)?;
            let (xs2, ys2) = (xs.clone(), ys.clone());
            Ok(Pair {
                ours: Measure::work(move || Ok(dotp.run((&xs, &ys))?)),
                reference: Measure::work(move || Ok(dot_by_hand::<T, LANES>(xs2.as_slice(), ys2.as_slice()))),
            })
        }),
        case("sum", || sums::<T, LANES>(LARGE)),
    ]
}

fn sums<T, const LANES: usize>(n: usize) -> Result<Pair>
where
    T: Floating + Into<f64> + Default + Add<Output = T> + Mul<Output = T> + Sum,
{
    let xs = Array::vector(uniform::<T>(1, n, 0.0, 1.0));
    let total = native(&afun(|xs: Acc<Vector<T>>| sum(xs)))?;
    check_close(total.run(&xs)?.as_slice(), &[sum_by_hand::<T, LANES>(xs.as_slice())], 1e-4)?;
    let xs2 = xs.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(total.run(&xs)?)),
        reference: Measure::work(move || Ok(sum_by_hand::<T, LANES>(xs2.as_slice()))),
    })
}

fn inputs<T: Floating>() -> (Vector<T>, Vector<T>) {
    (Array::vector(uniform(1, LARGE, 0.0, 1.0)), Array::vector(uniform(2, LARGE, 0.0, 1.0)))
}

fn axpy_by_hand<T>(a: T, xs: &[T], ys: &[T]) -> Vec<T>
where
    T: Copy + Default + Send + Sync + Add<Output = T> + Mul<Output = T>,
{
    // The operating system returns zeroed memory, so the pass below is the only one over it.
    let mut out = vec![T::default(); xs.len()];
    out.par_chunks_mut(CHUNK).zip(xs.par_chunks(CHUNK)).zip(ys.par_chunks(CHUNK)).for_each(|((out, xs), ys)| {
        for ((out, x), y) in out.iter_mut().zip(xs).zip(ys) {
            *out = a * *x + *y;
        }
    });
    out
}

fn dot_by_hand<T, const LANES: usize>(xs: &[T], ys: &[T]) -> T
where
    T: Copy + Default + Send + Sync + Add<Output = T> + Mul<Output = T> + Sum,
{
    let chunk = |(xs, ys): (&[T], &[T])| {
        let ((xs, xs_rest), (ys, ys_rest)) = (xs.as_chunks::<LANES>(), ys.as_chunks::<LANES>());
        let mut lanes = [T::default(); LANES];
        for (xs, ys) in xs.iter().zip(ys) {
            for ((lane, x), y) in lanes.iter_mut().zip(xs).zip(ys) {
                *lane = *lane + *x * *y;
            }
        }
        lanes.into_iter().sum::<T>() + xs_rest.iter().zip(ys_rest).map(|(x, y)| *x * *y).sum()
    };
    xs.par_chunks(CHUNK).zip(ys.par_chunks(CHUNK)).map(chunk).sum()
}

fn sum_by_hand<T, const LANES: usize>(xs: &[T]) -> T
where
    T: Copy + Default + Send + Sync + Add<Output = T> + Sum,
{
    let chunk = |xs: &[T]| {
        let (xs, rest) = xs.as_chunks::<LANES>();
        let mut lanes = [T::default(); LANES];
        for xs in xs {
            for (lane, x) in lanes.iter_mut().zip(xs) {
                *lane = *lane + *x;
            }
        }
        lanes.into_iter().sum::<T>() + rest.iter().copied().sum()
    };
    xs.par_chunks(CHUNK).map(chunk).sum()
}
