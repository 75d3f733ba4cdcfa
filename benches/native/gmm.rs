//! The Gaussian mixtures of ADBench, compared with JAX and with each other.

use accel::prelude::*;
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result, native};
use bench_common::gmm::{self, check, compiled, inputs, program};
use bench_common::jax;
use bench_common::product::{self, Operand, multiply};
use std::path::Path;

pub fn cases() -> Vec<Case> {
    let mut cases = of_files();
    let (name, problem) = gmm::large();
    let (work, asked) = (format!("GMM gradient, {name}"), [Asked::Speed(0.75)]);
    cases.push(Case::new("gmm", work, "gemm, as many operations", asked, move || large(&problem)));
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
            case("Hessian and a vector", "our gradient", Asked::Cost(3.0), |file| {
                Ok(Pair { ours: hessian_product(file)?, reference: gradient(file)? })
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

/// The product of the Hessian and the parameters.
fn hessian_product(file: &Path) -> Result<Measure> {
    let problem = GmmFile::read(file)?;
    let (parameters, x) = inputs(&problem)?;
    let product = native(&hvp(&program(&problem, &x)))?;
    let arguments = (parameters.clone(), parameters);
    Ok(Measure::work(move || Ok(product.run(&arguments)?)))
}

/// The objective has one product of matrices for each Gaussian, and its adjoint two. They are counted as if the factors were dense,
/// although they are triangular.
fn large(problem: &GmmFile) -> Result<Pair> {
    let (parameters, _, gradient) = compiled(problem)?;
    let (a, b, _) = product::inputs::<f64>()?;
    let times = (3 * problem.n * problem.d.pow(2) * problem.k).div_ceil(product::N.pow(3));
    Ok(Pair {
        ours: Measure::work(move || Ok(gradient.run(&parameters)?)),
        reference: Measure::work(move || {
            (0..times).for_each(|_| _ = std::hint::black_box(multiply(Operand::Rows(&a), Operand::Rows(&b))));
            Ok(())
        }),
    })
}
