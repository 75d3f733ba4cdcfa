//! What several integration tests have in common.
#![allow(dead_code, reason = "each test program uses a part")]

pub mod agree;
pub mod bad_files;
mod left_out;
pub mod passes;
pub mod reference;
pub mod traced;

#[allow(unused_imports, reason = "each test program uses a part")]
pub use left_out::left_out;

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An example program, built by cargo together with the tests.
pub fn example(name: &str) -> PathBuf {
    // This test is TARGET/PROFILE/deps/NAME-HASH; the examples are in TARGET/PROFILE/examples.
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(name);
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.is_file(),
        "{} is not built: run `cargo test`, or `cargo build --examples` before a single test",
        program.display()
    );
    program
}

/// Runs an example to its end.
pub fn run_example(name: &str, args: &[&str]) -> Output {
    Command::new(example(name)).args(args).output().unwrap()
}

/// Runs an example that must succeed and print one JSON object.
pub fn run_json(name: &str, args: &[&str]) -> serde_json::Value {
    let output = Command::new(example(name)).arg("--json").args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {args:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A small input file that ships with the project.
pub fn data_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name)
}

/// The small files of ADBench that ship with the project, with expected results.
pub fn shipped_adbench() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("adbench")
}

/// All of its files with expected results, if this checkout has them beside it.
pub fn all_of_adbench() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/adbench");
    beside.is_dir().then_some(beside)
}

/// An empty folder for the files of one test.
pub fn temporary_folder(name: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // The tests may run on another machine than the one on which they were built.
    let folder = if own.is_dir() { own.join(name) } else { std::env::temp_dir().join("accel-tests").join(name) };
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whether a program is one of those that a test runs which only runs every `nth` program: they are others for each revision
/// (`ACCEL_REVISION`), so that as many revisions in a row run all of them.
pub fn is_chosen(program: &impl Display, nth: u64) -> bool {
    let mut hash = DefaultHasher::new();
    (program.to_string(), std::env::var("ACCEL_REVISION").ok()).hash(&mut hash);
    hash.finish().is_multiple_of(nth)
}

/// The numbers of a JSON array, nested ones flattened.
pub fn numbers(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(values) => values.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap_or_else(|| panic!("not a number: {other}"))],
    }
}

/// The largest difference of two arrays, relative to the largest entry of `expected`.
pub fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0, |max: f64, e| max.max(e.abs()));
    let differences = found.iter().zip(expected).map(|(f, e)| (f - e).abs());
    // Written so that NaN is an infinite error, which `max` would drop.
    let worst = differences.fold(0.0, |max, d| {
        if d <= max {
            max
        } else if d.is_nan() {
            f64::INFINITY
        } else {
            d
        }
    });
    if worst == 0.0 { 0.0 } else { worst / largest }
}
