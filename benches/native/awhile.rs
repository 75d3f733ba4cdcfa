//! 10,000 steps of a loop over an array of 10 elements: the cost of a step besides its work.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, check_close, native};
use std::hint::black_box;
use std::time::Duration;

const STEPS: f64 = 10_000.0;

pub fn cases() -> Vec<Case> {
    let asked = [Asked::Speed(0.2), Asked::Within(Duration::from_millis(20))];
    let plain =
        Case::new("awhile", "awhile, 10,000 × map (+1), 10 elements", "Rust, a Vec for each step", asked, || {
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
        });
    let asked = [Asked::Cost(4.0), Asked::Within(Duration::from_millis(20))];
    let gradient = Case::new("awhile", "aiterate, 10,000 × 10 elements, gradient", "own primal", asked, || {
        let start: Vector<f64> = Array::vector((0..10).map(|i| f64::from(i) / 10.0).collect());
        let program = afun(|xs: Acc<Vector<f64>>| {
            let step = |ys: Acc<Vector<f64>>| zip_with(|x, y| y * 0.999 + x * y * (1.0 - y) * 0.001, xs, ys);
            sum(aiterate(STEPS as i64, step, xs))
        });
        let (ours, primal) = (native(&grad(&program))?, native(&program)?);
        let tangents = native(&jvp(&program))?;
        let dx: Vector<f64> = Array::vector(vec![1.0; 10]);
        let slope: f64 = ours.run(&start)?.to_vec().iter().sum();
        check_close(&[slope], tangents.run((&start, &dx))?.1.as_slice(), 1e-9)?;
        let start2 = start.clone();
        Ok(Pair {
            ours: Measure::work(move || Ok(ours.run(&start)?)),
            reference: Measure::work(move || Ok(primal.run(&start2)?)),
        })
    });
    vec![plain, gradient]
}

fn by_hand(start: &[f64]) -> Vec<f64> {
    let mut xs = start.to_vec();
    while xs[0] < STEPS {
        // Hides the vectors from rustc, which might optimise them away.
        xs = black_box(xs.iter().map(|x| x + 1.0).collect());
    }
    xs
}
