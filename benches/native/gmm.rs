//! The Gaussian mixtures of ADBench, compared with JAX and with each other.

use accel::prelude::*;
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result, native};
use bench_common::gmm::{self, check, inputs, program};
use bench_common::jax;
use std::path::Path;

pub fn cases() -> Vec<Case> {
    gmm::cases("JAX", |file, name| {
        let case = |work: &str, reference, asked, pair: fn(&Path) -> Result<Pair>| {
            let file = file.clone();
            Case::new("gmm", format!("GMM {work}, {name}"), reference, [asked], move || pair(&file))
        };
        vec![
            case("objective", "JAX", Asked::Speed(1.0), |file| {
                Ok(Pair { ours: objective(file)?, reference: jax::gmm(file, "objective_ms") })
            }),
            case("gradient", "JAX", Asked::Speed(3.0), |file| {
                Ok(Pair { ours: gradient(file)?, reference: jax::gmm(file, "gradient_ms") })
            }),
            case("gradient", "our objective", Asked::Cost(4.0), |file| {
                Ok(Pair { ours: gradient(file)?, reference: objective(file)? })
            }),
        ]
    })
}

fn objective(file: &Path) -> Result<Measure> {
    let problem = GmmFile::read(file)?;
    let (parameters, x) = inputs(&problem)?;
    let objective = native(&program(&problem, &x))?;
    check(file, objective.run(&parameters)?.item())?;
    Ok(Measure::work(move || Ok(objective.run(&parameters)?)))
}

/// The value and the gradient, as in JAX.
fn gradient(file: &Path) -> Result<Measure> {
    let problem = GmmFile::read(file)?;
    let (parameters, x) = inputs(&problem)?;
    let gradient = native(&value_and_grad(&program(&problem, &x)))?;
    check(file, gradient.run(&parameters)?.0.item())?;
    Ok(Measure::work(move || Ok(gradient.run(&parameters)?)))
}
