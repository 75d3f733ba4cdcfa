//! Bundle adjustment, as far as the residuals and their sparse Jacobian: ADBench's BA problem.
//!
//! ```text
//! cargo run --release --example ba -- --input FILE [--backend B] [--precision f32|f64] [--repeat N] [--memory] [--json]
//! ```

#[path = "ba/geometry.rs"]
mod geometry;
#[path = "ba/jacobian.rs"]
mod jacobian;

use accel::backend::Backend;
use accel::interp::Interpreted;
use accel::prelude::*;
use accel::{backend_named, default_backend};
use adbench::{
    BaFile, BaReport, Command, Failure, Options, Precision, exit_code, median_ms, parse_args, print_line, timed,
};
use jacobian::{Problem, expanded, jacobian, residuals};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
The residuals of bundle adjustment, and their sparse Jacobian by cameras, points and weights.

  --input FILE           a problem in ADBench's text format (default: a small one that ships with the project)
  --backend NAME         where to run (default: the environment variable ACCEL_BACKEND, or the library's choice)
  --precision f32|f64    the floating-point type (default: f64)
  --repeat N             runs to take the median time of (default: 1)
  --memory               measure the peak memory too, by one more run on the reference interpreter
  --json                 print one JSON object with the first observation's rows";

fn main() -> ExitCode {
    exit_code(run_example())
}

fn run_example() -> Result<(), Failure> {
    let options = match parse_args(std::env::args_os().skip(1))? {
        Command::Help => return print_line(HELP),
        Command::Run(options) => options,
    };
    let file = options.input.clone().unwrap_or_else(small_file);
    let problem = BaFile::read(&file)?;
    let report = compute(&problem, &options)?;
    if options.json {
        return print_line(report.json(&file, problem.n, problem.m, problem.p));
    }
    print_table(&file, &problem, &report)
}

/// The problem that ships with the project.
fn small_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/ba_n3_m7_p20.txt")
}

fn compute(problem: &BaFile, options: &Options) -> Result<BaReport, Failure> {
    let backend = match &options.backend {
        Some(name) => backend_named(name),
        None => default_backend(),
    };
    let backend = backend.map_err(|error| Failure::Usage(error.to_string()))?;
    let report = match options.precision {
        Precision::F32 => compute_in::<f32>(problem, options, backend),
        Precision::F64 => compute_in::<f64>(problem, options, backend),
    };
    report.map_err(|error| Failure::Compute(error.to_string()))
}

/// Computes in the precision of `T`.
fn compute_in<T: Floating + Into<f64>>(
    file: &BaFile,
    options: &Options,
    backend: &dyn Backend,
) -> Result<BaReport, Error> {
    let problem: Problem<T> = expanded(file);
    let ((residuals, jacobian, program), compile_ms) = timed(|| {
        let residuals = afun(residuals::<T>);
        let program = afun(jacobian::<T>);
        Ok::<_, Error>((compile_on(backend, &residuals)?, compile_on(backend, &program)?, program))
    })?;
    let (reprojection, weights) = residuals.run(&problem)?;
    let ((starts, _, values), jacobian_ms) = median_ms(options.repeat, || jacobian.run(&problem))?;
    let peak_bytes = if options.memory {
        let inputs = Arrays::to_tuple(&problem);
        Some(Interpreted::new(program.program()?).run_measured(&inputs)?.1)
    } else {
        None
    };
    let row = |row: usize| -> Vec<f64> {
        let [start, end] = [starts.as_slice()[row], starts.as_slice()[row + 1]];
        let entries = &values.as_slice()[start as usize..end as usize];
        entries.iter().map(|entry| (*entry).into()).collect()
    };
    let first = reprojection.get(0).map_or([f64::NAN; 2], |error| [error.0.into(), error.1.into()]);
    Ok(BaReport {
        backend: backend.name().to_string(),
        nnz: values.len(),
        reproj_err: first,
        w_err: weights.as_slice()[0].into(),
        jac_row0: row(0),
        jac_row1: row(1),
        jac_werr0: row(2 * file.p)[0],
        jacobian_ms,
        compile_ms,
        peak_bytes,
    })
}

fn print_table(file: &Path, problem: &BaFile, report: &BaReport) -> Result<(), Failure> {
    print_line(format_args!(
        "{}: {} cameras, {} points, {} observations; backend {}",
        file.display(),
        problem.n,
        problem.m,
        problem.p,
        report.backend
    ))?;
    print_line(format_args!("reprojection error  {:?}", report.reproj_err))?;
    print_line(format_args!("weight error        {}", report.w_err))?;
    print_line(format_args!("Jacobian            {} entries", report.nnz))?;
    print_line(format_args!("  row 0             {:.6?}", report.jac_row0))?;
    print_line(format_args!("  row 1             {:.6?}", report.jac_row1))?;
    print_line(format_args!("  first weight row  {}", report.jac_werr0))?;
    print_line(format_args!(
        "time                compile {:.2} ms, Jacobian {:.2} ms",
        report.compile_ms, report.jacobian_ms
    ))?;
    match report.peak_bytes {
        Some(bytes) => print_line(format_args!("memory              at most {:.1} MB of arrays", bytes as f64 / 1e6)),
        None => Ok(()),
    }
}
