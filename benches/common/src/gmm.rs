//! ADBench's Gaussian mixture as a program with its inputs. The objective is that of the example.

#[path = "../../../examples/gmm/objective.rs"]
mod objective;

use crate::case::{self, Case, native};
use crate::data::{beside, uniform};
use accel::afun::{Afun, Compiled};
use accel::prelude::*;
use adbench::GmmFile;
use objective::{constant_term, objective};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The compiled objective.
pub type Objective = Compiled<Parameters, Scalar<f64>>;

/// The compiled objective with its gradient.
pub type WithGradient = Compiled<Parameters, (Scalar<f64>, Parameters)>;

/// Weights, means and factors.
pub type Parameters = (Vector<f64>, Matrix<f64>, Matrix<f64>);

/// The parameters of a file, and the points as an array of the host.
pub fn inputs(file: &GmmFile) -> Result<(Parameters, Matrix<f64>), Error> {
    let GmmFile { d, k, n, .. } = *file;
    let means = Array::matrix(k, d, file.means.clone())?;
    let icf = Array::matrix(k, file.icf_columns(), file.icf.clone())?;
    Ok(((Array::vector(file.alphas.clone()), means, icf), Array::matrix(n, d, file.x.clone())?))
}

/// A mixture of `k` Gaussians in `d` dimensions and `n` points, all random.
pub fn random(n: usize, d: usize, k: usize) -> GmmFile {
    let factors = d + d * (d - 1) / 2;
    GmmFile {
        d,
        k,
        n,
        alphas: uniform(1, k, -1.0, 1.0),
        means: uniform(2, k * d, -1.0, 1.0),
        icf: uniform(3, k * factors, -0.3, 0.3),
        x: uniform(4, n * d, -1.0, 1.0),
        gamma: 1.0,
        m: 0,
    }
}

/// The name of the large mixture, and the mixture: random points and Gaussians of 128 dimensions.
pub fn large() -> (String, GmmFile) {
    let (n, d, k) = (10_000, 128, 200);
    (format!("{n} random points, d = {d}, K = {k}"), random(n, d, k))
}

/// The parameters of a mixture, its objective and the objective with its gradient, compiled.
///
/// # Errors
/// They cannot be compiled or run, or the objective is not the same with the gradient.
pub fn compiled(file: &GmmFile) -> case::Result<(Parameters, Objective, WithGradient)> {
    let (parameters, x) = inputs(file)?;
    let program = program(file, &x);
    let (objective, gradient) = (native(&program)?, native(&value_and_grad(&program))?);
    let (value, with_gradient) = (objective.run(&parameters)?.item(), gradient.run(&parameters)?.0.item());
    if (value - with_gradient).abs() > 1e-9 * value.abs() {
        return Err(format!("the objective is {value}, with its gradient {with_gradient}").into());
    }
    Ok((parameters, objective, gradient))
}

/// The objective as a program of the parameters. The points are constants of the program.
pub fn program(file: &GmmFile, x: &Matrix<f64>) -> Afun<Parameters, Scalar<f64>> {
    let scalar = Array::scalar;
    let (gamma, m) = (scalar(file.gamma), scalar(f64::from(file.m)));
    let constant = scalar(constant_term(file.n, file.d, file.k, file.gamma, file.m));
    afun(|alphas: Acc<Vector<f64>>, means: Acc<Matrix<f64>>, icf: Acc<Matrix<f64>>| {
        objective((alphas, means, icf), use_(x), (use_(&gamma), use_(&m), use_(&constant)))
    })
}

/// The cases of every file of ADBench, given its path and its name. If there are no files, a case that says why.
pub fn cases(reference: &'static str, of_file: impl Fn(PathBuf, String) -> Vec<Case>) -> Vec<Case> {
    match files() {
        Ok(files) => {
            let name = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            files.into_iter().flat_map(|file| of_file(file.clone(), name(&file))).collect()
        }
        Err(reason) => {
            let reason = reason.to_string();
            vec![Case::new("gmm", "GMM", reference, [], || Err(reason.into()))]
        }
    }
}

/// ADBench's files, sorted by name.
fn files() -> case::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(beside("data/adbench/gmm")?)?;
    let mut files = entries.map(|e| Ok(e?.path())).collect::<case::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

/// Checks that the objective is the expected one. Tests compare the gradients.
///
/// # Errors
/// It differs.
pub fn check(file: &Path, objective: f64) -> case::Result<()> {
    let expected = std::fs::read_to_string(beside("data/adbench/expected/gmm.jsonl")?)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    for line in expected.lines() {
        let expected: Value = serde_json::from_str(line)?;
        if expected["file"] == *name {
            let expected = expected["objective"].as_f64().unwrap_or(f64::NAN);
            if (objective - expected).abs() <= 1e-9 * expected.abs() {
                return Ok(());
            }
            return Err(format!("the objective is {objective}, {expected} was expected").into());
        }
    }
    Err(format!("no expected objective of {name}").into())
}
