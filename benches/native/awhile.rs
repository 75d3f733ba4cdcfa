//! 10,000 steps of a loop over an array of 10 elements: the cost of a step besides its work.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, check_close, native};
use std::hint::black_box;
use std::time::Duration;

const STEPS: f64 = 10_000.0;

pub fn cases() -> Vec<Case> {
    let asked = [Asked::Speed(0.2), Asked::Within(Duration::from_millis(20))];
    vec![Case::new("awhile", "awhile, 10,000 × map (+1), 10 elements", "Rust, a Vec for each step", asked, || {
        let start: Vector<f64> = Array::vector((0..10).map(f64::from).collect());
        let ours = native(&afun(|xs: Acc<Vector<f64>>| {
            awhile(|xs: Acc<Vector<f64>>| xs.at(0).lt(STEPS), |xs| map(|x| x + 1.0, xs), xs)
        }))?;
        check_close(ours.run(&start)?.as_slice(), &by_hand(start.as_slice()), 0.0)?;
        let start2 = start.clone();
        Ok(Pair {
            ours: Measure::work(move || Ok(ours.run(&start)?)),
            reference: Measure::work(move || Ok(by_hand(start2.as_slice()))),
        })
    })]
}

fn by_hand(start: &[f64]) -> Vec<f64> {
    let mut xs = start.to_vec();
    while xs[0] < STEPS {
        // Hides the vectors from rustc, which might optimise them away.
        xs = black_box(xs.iter().map(|x| x + 1.0).collect());
    }
    xs
}
