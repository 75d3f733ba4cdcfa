//! Times of JAX, which runs in separate processes.

use crate::case::{Measure, Result};
use crate::data::beside;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The number of runs in the JAX process, which reports their median.
const RUNS: &str = "20";

/// JAX's median time of one of its measurements, from a separate process.
pub fn gmm(file: &Path, field: &'static str) -> Measure {
    let file = file.to_owned();
    Measure::Elsewhere(Box::new(move || {
        let script = beside("peers/jax_adbench.py")?;
        let found = run_python(Command::new("python3").arg(script).arg("time").arg(&file).arg(RUNS))?;
        let found: Value = serde_json::from_str(&found)?;
        let ms = found[field].as_f64().ok_or("the JAX program printed something else than its times")?;
        Ok(Duration::from_secs_f64(ms / 1e3))
    }))
}

/// The standard output of a Python program.
///
/// # Errors
/// The program fails.
pub fn run_python(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("python3: {}", said.lines().last().unwrap_or_default()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
