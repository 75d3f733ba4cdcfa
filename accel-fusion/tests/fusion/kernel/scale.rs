//! Lowering takes time proportional to the length of the program.

use crate::proportion;
use accel_core::prelude::*;
use accel_fusion::pipeline::lower;
use std::time::Instant;

type V = Acc<Vector<f64>>;

fn check(make: fn(usize) -> Afun<Vector<f64>, Vector<f64>>, n: usize) {
    let time = |n| {
        let f = make(n);
        let start = Instant::now();
        lower(f.program().unwrap()).unwrap();
        start.elapsed()
    };
    proportion::check(time, n);
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
