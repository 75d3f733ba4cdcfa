//! What a run costs besides its work: programs with one small array.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close};
use std::hint::black_box;
use std::time::Duration;

/// The runs that are timed together.
const RUNS: u64 = 1_000;
/// The demand on one of them.
const ASKED: Duration = Duration::from_nanos(200);

pub fn cases() -> Vec<Case> {
    let asked = Asked::Within(ASKED * RUNS as u32);
    let case = |how: &str, setup: fn() -> Result<Pair>| {
        let work = format!("sum of the squares of 10 numbers, {RUNS} times, {how}");
        Case::new("run", work, "Rust, into arrays", [asked], setup)
    };
    vec![
        case("`run` of a program", || {
            let program = squares();
            pair(move |xs| Ok(run(&program, xs)?))
        }),
        case("compiled program", || {
            let program = compile(squares())?;
            pair(move |xs| Ok(program.run(xs)?))
        }),
    ]
}

fn squares() -> Afun<Vector<f64>, Scalar<f64>> {
    afun(|xs: Acc<Vector<f64>>| sum(map(|x| x * x, xs)))
}

fn by_hand(xs: &Vector<f64>) -> Scalar<f64> {
    Array::scalar(xs.as_slice().iter().map(|x| x * x).sum())
}

fn pair(ours: impl Fn(&Vector<f64>) -> Result<Scalar<f64>> + 'static) -> Result<Pair> {
    let xs = Array::vector((0..10).map(f64::from).collect());
    check_close(&[ours(&xs)?.item()], &[by_hand(&xs).item()], 1e-15)?;
    let xs2 = xs.clone();
    Ok(Pair {
        ours: Measure::work(move || (0..RUNS).try_for_each(|_| ours(black_box(&xs)).map(|y| _ = black_box(y)))),
        reference: Measure::work(move || {
            (0..RUNS).for_each(|_| _ = black_box(by_hand(black_box(&xs2))));
            Ok(())
        }),
    })
}
