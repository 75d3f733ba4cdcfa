//! The sparse Jacobian of ADBench's bundle adjustment, compared with a sequential one that is differentiated by hand.

#[path = "../../examples/ba/geometry.rs"]
mod geometry;
#[path = "../../examples/ba/jacobian.rs"]
pub mod jacobian;

use super::ba_by_hand;
use accel::prelude::*;
use adbench::BaFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::data::beside;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::time::Duration;

pub fn cases() -> Vec<Case> {
    let case =
        |work, asked, setup: fn() -> Result<Pair>| Case::new("ba", work, "Rust by hand, sequential", [asked], setup);
    vec![
        case("BA Jacobian, ba5", Asked::Speed(1.5), || pair("ba5_n257_m65132_p225911", None)),
        case("BA Jacobian, ba1, one thread", Asked::Within(Duration::from_micros(3900)), || {
            pair("ba1_n49_m7776_p31843", Some(ThreadPoolBuilder::new().num_threads(1).build()?))
        }),
    ]
}

/// The Jacobian of a file, in the threads of a pool or in all threads.
fn pair(name: &str, pool: Option<ThreadPool>) -> Result<Pair> {
    let file = BaFile::read(&beside(&format!("data/adbench/ba/{name}.txt"))?)?;
    let (problem, problem_by_hand) = (jacobian::expanded::<f64>(&file), by_hand(&file));
    let ours = native(&afun(jacobian::jacobian::<f64>))?;
    let (starts, columns, values) = ours.run(&problem)?;
    let reference = ba_by_hand::jacobian(&problem_by_hand);
    if starts.as_slice() != reference.0 || columns.as_slice() != reference.1 {
        return Err("the entries are in different places".into());
    }
    check_close(values.as_slice(), &reference.2, 1e-12)?;
    let run = move || ours.run(&problem);
    Ok(Pair {
        ours: match pool {
            Some(pool) => Measure::work(move || Ok(pool.install(&run)?)),
            None => Measure::work(move || Ok(run()?)),
        },
        reference: Measure::work(move || Ok(ba_by_hand::jacobian(&problem_by_hand))),
    })
}

/// The single camera, point, weight and feature of the file, repeated as often as the file says.
fn by_hand(file: &BaFile) -> ba_by_hand::Problem {
    ba_by_hand::Problem {
        cameras: vec![file.camera; file.n],
        points: vec![file.point; file.m],
        observed: (0..file.p).map(|i| (i % file.n, i % file.m)).collect(),
        weights: vec![file.weight; file.p],
        features: vec![file.feature; file.p],
    }
}
