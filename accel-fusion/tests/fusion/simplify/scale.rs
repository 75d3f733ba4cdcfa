//! Simplification takes time proportional to the length of the program.

use super::support::{counts, simple};
use crate::proportion;
use accel_core::prelude::*;
use accel_core::surface::fst;
use std::time::{Duration, Instant};

fn timed(f: &Afun<Vector<f64>, Vector<f64>>) -> (Afun<Vector<f64>, Vector<f64>>, Duration) {
    let start = Instant::now();
    let g = simple(f);
    (g, start.elapsed())
}

fn check(make: impl Fn(usize) -> Afun<Vector<f64>, Vector<f64>>, n: usize) {
    proportion::check(|n| timed(&make(n)).1, n);
}

#[test]
fn scalar_definitions() {
    // Each value is used twice: 100,000 operations, half of them definitions.
    check(|n| afun(move |xs: Acc<Vector<f64>>| map(|x| (0..n).fold(x, |e, _| (e + e).sin()), xs)), 50_000);
    // Each value is used once. On a quiet machine, an operation takes 15 µs among 1,000, 19 among 2,000, 37 to 42 among 20,000 and no more
    // among 40,000, probably because they leave the caches. Beside other work, 20,000 took more than thirty times as long as 2,000.
    check(|n| afun(move |xs: Acc<Vector<f64>>| map(|x| (0..n).fold(x, |e, i| e * (i as f64 + 2.0)), xs)), 40_000);
}

#[test]
fn array_definitions() {
    let step = |a: Acc<Vector<f64>>, i: usize| match i % 2 {
        0 => map(|x| x.sin(), a),
        _ => zip_with(|x, y| x + y, a, a),
    };
    check(|n| afun(move |xs: Acc<Vector<f64>>| (0..n).fold(xs, step)), 10_000);
}

#[test]
fn a_chain_of_shapes() {
    let step = |a: Acc<Vector<f64>>, _| generate(a.shape(), |i| a.at(i) + 1.0);
    check(|n| afun(move |xs: Acc<Vector<f64>>| (0..n).fold(xs, step)), 3_000);
}

#[test]
fn dead_chains_disappear_in_one_round() {
    let f = afun(|xs: Acc<Vector<f64>>| map(|x| fst(pair(x, (0..1000).fold(x, |e, _| (e + e).sin()))), xs));
    assert_eq!(counts(&f).1.arrays, 1);
}
