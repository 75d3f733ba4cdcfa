//! Times of CoDiPack, a library for C++, in a separate process. The variable `CODIPACK` names its source.

use bench_common::case::{Measure, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// The compiled program, in a folder that lasts as long as this process.
fn program() -> Result<PathBuf> {
    static FOLDER: OnceLock<std::result::Result<TempDir, String>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| compile().map_err(|e| e.to_string())).as_ref().map_err(|e| e.clone())?;
    Ok(folder.path().join("main"))
}

fn compile() -> Result<TempDir> {
    let source = std::env::var_os("CODIPACK").ok_or("CODIPACK does not name the folder of CoDiPack's source")?;
    let folder = tempfile::tempdir()?;
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/main.cpp");
    let mut compiler = Command::new("c++");
    compiler.args(["-O3", "-march=native", "-std=c++17", "-I"]).arg(Path::new(&source).join("include"));
    let output = compiler.arg(main).arg("-o").arg(folder.path().join("main")).output()?;
    match output.status.success() {
        true => Ok(folder),
        false => Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("c++ failed").into()),
    }
}

/// Runs a program. Returns the time of a run and a number of the gradient.
fn run(program: &Path, name: &str) -> Result<(Duration, f64)> {
    let output = Command::new(program).arg(name).output()?;
    let text = String::from_utf8(output.stdout)?;
    let (time, number) = text.trim().split_once(' ').ok_or("the program printed no time")?;
    Ok((Duration::from_secs_f64(time.parse::<f64>()? / 1e9), number.parse()?))
}

/// The measurement of a program, whose gradient must contain `expected`.
pub fn measure(name: &'static str, expected: f64) -> Result<Measure> {
    let program = program()?;
    let (_, found) = run(&program, name)?;
    bench_common::case::check_close(&[expected], &[found], 1e-9)?;
    Ok(Measure::Elsewhere(Box::new(move || Ok(run(&program, name)?.0))))
}
