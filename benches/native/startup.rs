//! The time of a program from its closure to its first result, in a separate process.

use accel::backend_named;
use accel::prelude::*;
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result};
use bench_common::data::beside;
use bench_common::gmm::{inputs, program};
use bench_common::jax::run_python;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub const FILE: &str = "data/adbench/gmm/1k_gmm_d10_K5.txt";

pub fn cases() -> Vec<Case> {
    let case = |cache: &str, asked, pair: fn() -> Result<Pair>| {
        let work = format!("start of the GMM gradient, {cache} cache");
        Case::new("startup", work, "JAX, first call of jit", [asked], pair)
    };
    vec![
        case("cold", Asked::Speed(1.0), || {
            let ours = || {
                let cache = tempfile::tempdir()?;
                start_with_file(cache.path(), "0")
            };
            Ok(Pair { ours: Measure::Elsewhere(Box::new(ours)), reference: jax() })
        }),
        case("cold, tiered", Asked::Within(Duration::from_millis(60)), || {
            let ours = || {
                let cache = tempfile::tempdir()?;
                start_with_file(cache.path(), "1")
            };
            Ok(Pair { ours: Measure::Elsewhere(Box::new(ours)), reference: jax() })
        }),
        case("warm", Asked::Within(Duration::from_millis(50)), || {
            let cache = tempfile::tempdir()?;
            start_with_file(cache.path(), "0")?;
            let ours = move || start_with_file(cache.path(), "0");
            Ok(Pair { ours: Measure::Elsewhere(Box::new(ours)), reference: jax() })
        }),
    ]
}

/// `tiered` is the value of `ACCEL_TIERED`.
fn start_with_file(cache: &Path, tiered: &str) -> Result<Duration> {
    start(&["--startup".as_ref(), beside(FILE)?.as_os_str()], cache, tiered)
}

/// Starts this program again with some arguments, and returns the time that it reports with the files in `cache`.
pub fn start(arguments: &[&OsStr], cache: &Path, tiered: &str) -> Result<Duration> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(arguments).env("XDG_CACHE_HOME", cache).env("ACCEL_TIERED", tiered).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    milliseconds(&String::from_utf8(output.stdout)?)
}

/// In the separate process: prints the milliseconds from the closure to the first result.
pub fn run(file: &Path) -> Result<()> {
    let problem = GmmFile::read(file)?;
    let (parameters, x) = inputs(&problem)?;
    let begin = Instant::now();
    let gradient = Compiled::start(backend_named("native")?, &value_and_grad(&program(&problem, &x)))?;
    let (value, _) = gradient.run(&parameters)?;
    let time = begin.elapsed();
    if !value.item().is_finite() {
        return Err("the objective is not a number".into());
    }
    println!("{}", time.as_secs_f64() * 1e3);
    Ok(())
}

fn jax() -> Measure {
    Measure::Elsewhere(Box::new(|| {
        let script = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/jax_startup.py"));
        let peers = beside("peers")?;
        milliseconds(&run_python(Command::new("python3").arg(script).arg(peers).arg(beside(FILE)?))?)
    }))
}

fn milliseconds(text: &str) -> Result<Duration> {
    Ok(Duration::from_secs_f64(text.trim().parse::<f64>()? / 1e3))
}
