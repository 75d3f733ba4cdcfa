//! The sparse Jacobian of ADBench's bundle adjustment, compared with a sequential one that is differentiated by hand.

#[path = "../../examples/ba/geometry.rs"]
mod geometry;
#[path = "../../examples/ba/jacobian.rs"]
#[expect(dead_code, reason = "the residuals are not timed")]
mod jacobian;

use super::ba_by_hand;
use accel::prelude::*;
use adbench::BaFile;
use bench_common::case::{Asked, Case, Measure, Pair, check_close, native};
use bench_common::data::beside;

pub fn cases() -> Vec<Case> {
    vec![Case::new("ba", "BA Jacobian, ba5", "Rust by hand, sequential", [Asked::Speed(1.5)], || {
        let file = BaFile::read(&beside("data/adbench/ba/ba5_n257_m65132_p225911.txt")?)?;
        let (problem, problem_by_hand) = (jacobian::expanded::<f64>(&file), by_hand(&file));
        let ours = native(&afun(jacobian::jacobian::<f64>))?;
        let (starts, columns, values) = ours.run(&problem)?;
        let reference = ba_by_hand::jacobian(&problem_by_hand);
        if starts.as_slice() != reference.0 || columns.as_slice() != reference.1 {
            return Err("the entries are in different places".into());
        }
        check_close(values.as_slice(), &reference.2, 1e-12)?;
        Ok(Pair {
            ours: Measure::work(move || Ok(ours.run(&problem)?)),
            reference: Measure::work(move || Ok(ba_by_hand::jacobian(&problem_by_hand))),
        })
    })]
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
