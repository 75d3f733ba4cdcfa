//! Mathematical functions of 16M f32, in one thread.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::data::{LARGE, uniform};
use rayon::ThreadPoolBuilder;

pub fn cases() -> Vec<Case> {
    let case = |name: &str, ours: fn(Exp<f32>) -> Exp<f32>, by_hand: fn(&[f32]) -> Vec<f32>| {
        let setup = move || pair(ours, by_hand);
        Case::new("maps", format!("{name}, 16M f32, one thread"), "std, one thread", [Asked::Speed(4.0)], setup)
    };
    // Each reference is a separate loop, so that rustc sees which function is called.
    vec![
        case("exp", |x| x.exp(), |xs| xs.iter().map(|x| x.exp()).collect()),
        case("log", |x| x.ln(), |xs| xs.iter().map(|x| x.ln()).collect()),
        case("tanh", |x| x.tanh(), |xs| xs.iter().map(|x| x.tanh()).collect()),
        case("sin", |x| x.sin(), |xs| xs.iter().map(|x| x.sin()).collect()),
    ]
}

fn pair(ours: fn(Exp<f32>) -> Exp<f32>, by_hand: fn(&[f32]) -> Vec<f32>) -> Result<Pair> {
    let xs: Vector<f32> = Array::vector(uniform(1, LARGE, 0.01, 1.0));
    let ours = native(&afun(|xs: Acc<Vector<f32>>| map(ours, xs)))?;
    let one_thread = ThreadPoolBuilder::new().num_threads(1).build()?;
    check_close(ours.run(&xs)?.as_slice(), &by_hand(xs.as_slice()), 1e-6)?;
    let xs2 = xs.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(one_thread.install(|| ours.run(&xs))?)),
        reference: Measure::work(move || Ok(by_hand(xs2.as_slice()))),
    })
}
