//! The Gaussian mixtures of ADBench, compared with JAX and with each other.

use accel::prelude::*;
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result, native};
use bench_common::gmm::{self, check, inputs, program, random};
use bench_common::jax;
use bench_common::product::{self, Operand, multiply};
use std::path::Path;

/// The points, dimensions and Gaussians of the large mixture.
const LARGE: [usize; 3] = [10_000, 128, 200];

pub fn cases() -> Vec<Case> {
    let mut cases = of_files();
    let [n, d, k] = LARGE;
    let work = format!("GMM gradient, {n} random points, d = {d}, K = {k}");
    cases.push(Case::new("gmm", work, "gemm, as many operations", [Asked::Speed(0.75)], large));
    cases
}

fn of_files() -> Vec<Case> {
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

/// The objective has one product of matrices for each Gaussian, and its adjoint two. They are counted as if the factors were dense,
/// although they are triangular.
fn large() -> Result<Pair> {
    let [n, d, k] = LARGE;
    let problem = random(n, d, k);
    let (parameters, x) = inputs(&problem)?;
    let program = program(&problem, &x);
    let gradient = native(&value_and_grad(&program))?;
    let (value, with_gradient) = (native(&program)?.run(&parameters)?.item(), gradient.run(&parameters)?.0.item());
    if (value - with_gradient).abs() > 1e-9 * value.abs() {
        return Err(format!("the objective is {value}, with its gradient {with_gradient}").into());
    }
    let (a, b, _) = product::inputs::<f64>()?;
    let times = (3 * n * d * d * k).div_ceil(product::N.pow(3));
    Ok(Pair {
        ours: Measure::work(move || Ok(gradient.run(&parameters)?)),
        reference: Measure::work(move || {
            (0..times).for_each(|_| _ = std::hint::black_box(multiply(Operand::Rows(&a), Operand::Rows(&b))));
            Ok(())
        }),
    })
}
