//! The time of lowering is proportional to the length of the program.

use accel_core::prelude::*;
use accel_fusion::pipeline::lower;
use std::time::{Duration, Instant};

type V = Acc<Vector<f64>>;

/// Checks that a program ten times as long takes no more than forty times as long. One of three attempts is enough, because
/// the machine may do other things as well.
fn check(make: fn(usize) -> Afun<Vector<f64>, Vector<f64>>, n: usize) {
    let time = |n| {
        let f = make(n);
        let start = Instant::now();
        lower(f.program().unwrap()).unwrap();
        start.elapsed()
    };
    let in_proportion = |_| {
        let (short, long) = (time(n / 10), time(n));
        println!("{} took {short:?}, {n} took {long:?}", n / 10);
        long < short * 40 + Duration::from_millis(200)
    };
    assert!((0..3).any(in_proportion));
}

#[test]
fn chains_of_maps() {
    check(|n| afun(|xs: V| (0..n).fold(xs, |ys, i| map(|y| y * 0.5 + i as f64, ys))), 5_000);
}

#[test]
fn chains_of_zips() {
    let left = |n| afun(move |xs: V| (0..n).fold(xs, |ys, _| zip_with(|y, x| y * 0.5 + x, ys, xs)));
    let right = |n| afun(move |xs: V| (0..n).fold(xs, |ys, _| zip_with(|x, y| y * 0.5 + x, xs, ys)));
    check(left, 5_000);
    check(right, 5_000);
}
