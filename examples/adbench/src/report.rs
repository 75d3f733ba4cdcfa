//! Measures times, and prints results.

use crate::Failure;
use serde_json::{Value, json};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The mixture's objective and gradient, with their times.
#[derive(Clone, Debug)]
pub struct GmmReport {
    /// The backend that computed it.
    pub backend: String,
    /// The objective at the file's parameters.
    pub objective: f64,
    /// Derivatives by the alphas: `[k]`.
    pub d_alphas: Vec<f64>,
    /// Derivatives by the means: `[k, d]`.
    pub d_means: Vec<f64>,
    /// Derivatives by the inverse covariance factors: `[k, d + d(d-1)/2]`.
    pub d_icf: Vec<f64>,
    /// Median time of the objective.
    pub objective_ms: f64,
    /// Median time of objective and gradient together.
    pub gradient_ms: f64,
    /// Time to stage, differentiate and compile both programs, once.
    pub compile_ms: f64,
    /// The largest total size of the gradient program's arrays, in bytes, if it was measured.
    pub peak_bytes: Option<usize>,
}

impl GmmReport {
    /// One JSON object, with numbers that are read back exactly.
    pub fn json(&self, file: &Path, n: usize, d: usize, k: usize) -> Value {
        let report = json!({
            "file": file_name(file), "backend": self.backend, "n": n, "d": d, "k": k,
            "objective": self.objective,
            "d_alphas": self.d_alphas, "d_means": self.d_means, "d_icf": self.d_icf,
            "objective_ms": self.objective_ms, "gradient_ms": self.gradient_ms, "compile_ms": self.compile_ms,
        });
        with_peak(report, self.peak_bytes)
    }
}

/// The residuals of bundle adjustment and their Jacobian, with their times.
#[derive(Clone, Debug)]
pub struct BaReport {
    /// The backend that computed it.
    pub backend: String,
    /// Entries of the Jacobian that are not zero by structure.
    pub nnz: usize,
    /// The reprojection error of the first observation.
    pub reproj_err: [f64; 2],
    /// The weight error of the first observation.
    pub w_err: f64,
    /// The first row of the Jacobian: 11 camera, 3 point and 1 weight entries.
    pub jac_row0: Vec<f64>,
    /// The second row of the Jacobian.
    pub jac_row1: Vec<f64>,
    /// The only entry of the row of the first weight error.
    pub jac_werr0: f64,
    /// Median time of the Jacobian.
    pub jacobian_ms: f64,
    /// Time to stage, differentiate and compile, once.
    pub compile_ms: f64,
    /// The largest total size of the arrays of the Jacobian's program, in bytes, if it was measured.
    pub peak_bytes: Option<usize>,
    /// The Jacobian by `sparse_jacobian`, if it was asked for.
    pub sparse: Option<SparseReport>,
}

/// A Jacobian by `sparse_jacobian` beside the one whose entries are written out.
#[derive(Clone, Debug)]
pub struct SparseReport {
    /// Products of the Jacobian and a vector for each run.
    pub directions: usize,
    /// The largest difference of two entries, relative to the larger of the entry and 1.
    pub difference: f64,
    /// Time to find the pattern, once.
    pub pattern_ms: f64,
    /// Time to colour the pattern, differentiate and compile, once.
    pub compile_ms: f64,
    /// Median time of the Jacobian.
    pub jacobian_ms: f64,
}

impl BaReport {
    /// One JSON object, with numbers that are read back exactly.
    pub fn json(&self, file: &Path, n: usize, m: usize, p: usize) -> Value {
        let mut report = json!({
            "file": file_name(file), "backend": self.backend, "n": n, "m": m, "p": p, "nnz": self.nnz,
            "jacobian_ms": self.jacobian_ms, "compile_ms": self.compile_ms,
            "reproj_err": self.reproj_err, "w_err": self.w_err,
            "jac_row0": self.jac_row0, "jac_row1": self.jac_row1, "jac_werr0": self.jac_werr0,
        });
        if let Some(sparse) = &self.sparse {
            report["sparse"] = json!({
                "directions": sparse.directions, "difference": sparse.difference, "pattern_ms": sparse.pattern_ms,
                "compile_ms": sparse.compile_ms, "jacobian_ms": sparse.jacobian_ms,
            });
        }
        with_peak(report, self.peak_bytes)
    }
}

/// Adds the peak memory to a report, if it was measured.
fn with_peak(mut report: Value, peak_bytes: Option<usize>) -> Value {
    if let Some(bytes) = peak_bytes {
        report["peak_bytes"] = bytes.into();
    }
    report
}

/// The last component of a path, as reports name files.
fn file_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Runs `work`. Returns its result and its time in milliseconds.
pub fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64() * 1e3))
}

/// Runs `work` `repeat` times (at least once). Returns the median time in milliseconds, and the last result.
pub fn median_ms<T, E>(repeat: usize, mut work: impl FnMut() -> Result<T, E>) -> Result<(T, f64), E> {
    let (mut result, first) = timed(&mut work)?;
    let mut times = vec![first];
    for _ in 1..repeat {
        let (again, time) = timed(&mut work)?;
        result = again;
        times.push(time);
    }
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    let median = if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2.0 };
    Ok((result, median))
}

/// Prints `text` and a line break on standard output.
pub fn print_line(text: impl Display) -> Result<(), Failure> {
    // Unlike `println!`, this does not panic if the reader has closed the pipe.
    writeln!(std::io::stdout(), "{text}").map_err(|cause| Failure::Compute(format!("cannot write the result: {cause}")))
}

/// Ends an example. After a failure, prints the message on standard error. The exit code is 2 for a mistake in the
/// command line or the input file, and 1 for any other failure.
pub fn exit_code(result: Result<(), Failure>) -> ExitCode {
    let Err(failure) = result else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{failure}");
    match failure {
        Failure::Usage(_) | Failure::File(_) => ExitCode::from(2),
        Failure::Compute(_) => ExitCode::FAILURE,
    }
}
