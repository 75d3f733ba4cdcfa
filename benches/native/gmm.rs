//! The Gaussian mixtures of ADBench, beside JAX and beside each other.

use super::case::{Asked, Case, Measure, Pair, Result, native};
use super::data::beside;
use super::gmm_problem::{inputs, program};
use accel::prelude::*;
use adbench::GmmFile;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Runs in the JAX process, of which it takes the median.
const JAX_RUNS: &str = "20";

pub fn cases() -> Vec<Case> {
    let files = match files() {
        Ok(files) => files,
        Err(reason) => {
            let reason = reason.to_string();
            return vec![Case::new("gmm", "GMM", "JAX", [], || Err(reason.into()))];
        }
    };
    let mut cases = vec![];
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let case = |work: &str, reference, asked, pair: fn(&Path) -> Result<Pair>| {
            let file = file.clone();
            Case::new("gmm", format!("GMM {work}, {name}"), reference, [asked], move || pair(&file))
        };
        cases.push(case("objective", "JAX", Asked::Speed(1.0), |file| {
            Ok(Pair { ours: objective(file)?, reference: jax(file, "objective_ms") })
        }));
        cases.push(case("gradient", "JAX", Asked::Speed(3.0), |file| {
            Ok(Pair { ours: gradient(file)?, reference: jax(file, "gradient_ms") })
        }));
        cases.push(case("gradient", "our objective", Asked::Cost(4.0), |file| {
            Ok(Pair { ours: gradient(file)?, reference: objective(file)? })
        }));
    }
    cases
}

/// ADBench's files, in the order of their names.
fn files() -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(beside("data/adbench/gmm")?)?;
    let mut files = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn objective(file: &Path) -> Result<Measure> {
    let problem = GmmFile::read(file)?;
    let (parameters, x) = inputs(&problem)?;
    let objective = native(&program(&problem, &x))?;
    check(file, objective.run(&parameters)?.item())?;
    Ok(Measure::work(move || Ok(objective.run(&parameters)?)))
}

/// The value and the gradient, as JAX's.
fn gradient(file: &Path) -> Result<Measure> {
    let problem = GmmFile::read(file)?;
    let (parameters, x) = inputs(&problem)?;
    let gradient = native(&value_and_grad(&program(&problem, &x)))?;
    check(file, gradient.run(&parameters)?.0.item())?;
    Ok(Measure::work(move || Ok(gradient.run(&parameters)?)))
}

/// That the objective is the expected one. The gradients are compared by the tests.
fn check(file: &Path, objective: f64) -> Result<()> {
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

/// JAX's median time of one of its measurements, from a process of its own.
fn jax(file: &Path, field: &'static str) -> Measure {
    let file = file.to_owned();
    Measure::Elsewhere(Box::new(move || {
        let script = beside("peers/jax_adbench.py")?;
        let found = run_python(Command::new("python3").arg(script).arg("time").arg(&file).arg(JAX_RUNS))?;
        let found: Value = serde_json::from_str(&found)?;
        let ms = found[field].as_f64().ok_or("the JAX program printed something else than its times")?;
        Ok(Duration::from_secs_f64(ms / 1e3))
    }))
}

/// What a Python program prints.
pub fn run_python(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("python3: {}", said.lines().last().unwrap_or_default()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
