//! The time of a program from its closure to its first result, in a separate process.

#[path = "../programs/long.rs"]
mod long;

use crate::lstm_cell;
use accel::backend_named;
use accel::prelude::*;
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result};
use bench_common::data::beside;
use bench_common::gmm::{inputs, program};
use bench_common::jax::run_python;
use long::{lstm, mixed};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub const FILE: &str = "data/adbench/gmm/1k_gmm_d10_K5.txt";

/// The C compiler takes less time.
const LONGEST: Duration = Duration::from_secs(120);

/// How a new process starts.
#[derive(Clone, Copy)]
pub enum Start {
    /// Nothing is in the cache.
    Cold,
    /// Neither, and the first result may come from the interpreter: `ACCEL_TIERED=1`.
    Tiered,
    /// The program is in the cache.
    Warm,
}

pub fn cases() -> Vec<Case> {
    let gmm = |cache: &str, how, asked| {
        let work = format!("start of the GMM gradient, {cache} cache");
        Case::new("startup", work, "JAX, first call of jit", [asked], move || {
            Ok(Pair { ours: starts(how, vec!["--startup".into(), beside(FILE)?.into()])?, reference: jax() })
        })
    };
    // Beside a shorter program of the same kind: the time should grow as the length does.
    let long = |work: &str, name: &'static str, [steps, fewer]: [usize; 2], reference, how, asked| {
        let work = format!("start of {work}");
        Case::new("startup", work, reference, [Asked::Within(Duration::from_secs(asked))], move || {
            let side = |steps: usize| starts(how, vec![LONG.into(), name.into(), steps.to_string().into()]);
            Ok(Pair { ours: side(steps)?, reference: side(fewer)? })
        })
    };
    let (operations, steps) = ("1,000 operations", "20 steps");
    vec![
        gmm("cold", Start::Cold, Asked::Speed(1.0)),
        gmm("cold, tiered", Start::Tiered, Asked::Within(Duration::from_millis(60))),
        gmm("warm", Start::Warm, Asked::Within(Duration::from_millis(50))),
        long("3,000 mixed operations, tiered", "mixed", [3_000, 1_000], operations, Start::Tiered, 2),
        long("3,000 mixed operations, cold cache", "mixed", [3_000, 1_000], operations, Start::Cold, 15),
        long(
            "the gradient of 3,000 mixed operations, tiered",
            "gradient",
            [3_000, 1_000],
            operations,
            Start::Tiered,
            30,
        ),
        long(
            "the gradient of 3,000 mixed operations, cold cache",
            "gradient",
            [3_000, 1_000],
            operations,
            Start::Cold,
            30,
        ),
        long("the gradient of an LSTM, unrolled for 100 steps, cold cache", "lstm", [100, 20], steps, Start::Cold, 15),
        long("the gradient of an LSTM, unrolled for 100 steps, warm cache", "lstm", [100, 20], steps, Start::Warm, 1),
    ]
}

/// Starts of this program with some arguments.
///
/// # Errors
/// The first start, which fills the cache, fails.
pub fn starts(how: Start, arguments: Vec<OsString>) -> Result<Measure> {
    let tiered = if let Start::Tiered = how { "1" } else { "0" };
    let filled = match how {
        Start::Cold | Start::Tiered => None,
        Start::Warm => {
            let cache = tempfile::tempdir()?;
            start(&arguments, cache.path(), tiered)?;
            Some(cache)
        }
    };
    Ok(Measure::Elsewhere(Box::new(move || match &filled {
        Some(cache) => start(&arguments, cache.path(), tiered),
        None => start(&arguments, tempfile::tempdir()?.path(), tiered),
    })))
}

/// Starts this program again with some arguments, and returns the time that it reports with the files in `cache`.
fn start(arguments: &[OsString], cache: &Path, tiered: &str) -> Result<Duration> {
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
    wait_for_compiler()
}

/// Waits until the C compiler has finished in the background, so that it does not disturb the next measurement.
fn wait_for_compiler() -> Result<()> {
    let begin = Instant::now();
    while accel::cache::usage()?.is_some_and(|cache| cache.entries == 0) && begin.elapsed() < LONGEST {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The option by which this program starts itself to measure a long program.
pub const LONG: &str = "--startup-long";

/// In the separate process: prints the milliseconds from the closures of a program with this many steps to its first result.
pub fn run_long(name: &str, steps: usize) -> Result<()> {
    let begin = Instant::now();
    let xs = Array::vector(vec![0.5; 10]);
    match name {
        "mixed" => first_run(&mixed(steps), &xs)?,
        "gradient" => first_run(&grad(&mixed(steps)), &xs)?,
        "lstm" => {
            let (batch, inputs, hidden) = (8, 16, 16);
            let small = |n: usize| vec![0.1; n];
            let weights = |columns| Array::matrix(4 * hidden, columns, small(4 * hidden * columns));
            let xs = Array::from_vec((steps, batch, inputs), small(steps * batch * inputs))?;
            let arguments = (weights(inputs)?, weights(hidden)?, Array::vector(small(4 * hidden)), xs);
            first_run(&value_and_grad(&lstm(steps)), &arguments)?;
        }
        _ => return Err(format!("there is no program `{name}`").into()),
    }
    println!("{}", begin.elapsed().as_secs_f64() * 1e3);
    wait_for_compiler()
}

fn first_run<A: Arrays, R: Arrays>(program: &Afun<A, R>, arguments: impl Inputs<A>) -> Result<()> {
    Compiled::start(backend_named("native")?, program)?.run(arguments)?;
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
