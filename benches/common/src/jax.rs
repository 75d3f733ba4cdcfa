//! Times of JAX, which runs in processes of its own.

use crate::case::{Measure, Result};
use crate::data::beside;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Runs in the JAX process, of which it takes the median.
const RUNS: &str = "20";

/// JAX's median time of one of its measurements, from a process of its own.
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

/// What a Python program prints.
///
/// # Errors
/// It fails.
pub fn run_python(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("python3: {}", said.lines().last().unwrap_or_default()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
