//! Fits a Gaussian mixture, as far as the objective and its gradient: ADBench's GMM problem.
//!
//! ```text
//! cargo run --release --example gmm -- --input FILE [--backend B] [--precision f32|f64] [--repeat N] [--memory] [--json]
//! ```

#[path = "gmm/objective.rs"]
mod objective;

use accel::backend::Backend;
use accel::interp::Interpreted;
use accel::prelude::*;
use accel::{backend_named, default_backend};
use adbench::{
    Command, Failure, GmmFile, GmmReport, Options, Precision, exit_code, median_ms, parse_args, print_line, timed,
};
use objective::{constant_term, objective};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
The objective of a Gaussian mixture, and its gradient by the alphas, the means and the inverse covariance factors.

  --input FILE           a problem in ADBench's text format (default: a small one that ships with the project)
  --backend NAME         where to run (default: the environment variable ACCEL_BACKEND, or the library's choice)
  --precision f32|f64    the floating-point type (default: f64)
  --repeat N             runs to take the median time of (default: 1)
  --memory               measure the peak memory too, by one more run on the reference interpreter
  --json                 print one JSON object with the whole gradient";

fn main() -> ExitCode {
    exit_code(run_example())
}

fn run_example() -> Result<(), Failure> {
    let options = match parse_args(std::env::args_os().skip(1))? {
        Command::Help => return print_line(HELP),
        Command::Run(options) => options,
    };
    let file = options.input.clone().unwrap_or_else(small_file);
    let problem = GmmFile::read(&file)?;
    let report = compute(&problem, &options)?;
    if options.json {
        return print_line(report.json(&file, problem.n, problem.d, problem.k));
    }
    print_table(&file, &problem, &report)
}

/// The problem that ships with the project.
fn small_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/gmm_d2_k3_n50.txt")
}

fn compute(problem: &GmmFile, options: &Options) -> Result<GmmReport, Failure> {
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
    problem: &GmmFile,
    options: &Options,
    backend: &dyn Backend,
) -> Result<GmmReport, Error> {
    let GmmFile { d, k, n, .. } = *problem;
    let scalar = |x: f64| Array::scalar(T::from_f64(x));
    let matrix = |rows, columns, numbers: &[f64]| Array::matrix(rows, columns, converted(numbers));
    let alphas: Vector<T> = Array::vector(converted(&problem.alphas));
    let means: Matrix<T> = matrix(k, d, &problem.means)?;
    let icf: Matrix<T> = matrix(k, problem.icf_columns(), &problem.icf)?;
    let x: Matrix<T> = matrix(n, d, &problem.x)?;
    let gamma: Scalar<T> = scalar(problem.gamma);
    let m: Scalar<T> = scalar(f64::from(problem.m));
    let constant: Scalar<T> = scalar(constant_term(n, d, k, problem.gamma, problem.m));

    // The points and the prior are constants of the program: it is not differentiated by them.
    let ((value, gradient, program), compile_ms) = timed(|| {
        let prog = afun(|alphas: Acc<Vector<T>>, means: Acc<Matrix<T>>, icf: Acc<Matrix<T>>| {
            let prior = (use_(&gamma), use_(&m), use_(&constant));
            objective((alphas, means, icf), use_(&x), prior)
        });
        let program = value_and_grad(&prog);
        Ok::<_, Error>((compile_on(backend, &prog)?, compile_on(backend, &program)?, program))
    })?;
    let (_, objective_ms) = median_ms(options.repeat, || value.run((&alphas, &means, &icf)))?;
    let (results, gradient_ms) = median_ms(options.repeat, || gradient.run((&alphas, &means, &icf)))?;
    let peak_bytes = if options.memory {
        let inputs = Inputs::to_tuple(&(&alphas, &means, &icf));
        Some(Interpreted::new(program.program()?).run_measured(&inputs)?.1)
    } else {
        None
    };
    let (objective, (d_alphas, d_means, d_icf)) = results;
    Ok(GmmReport {
        backend: backend.name().to_string(),
        objective: objective.as_slice()[0].into(),
        d_alphas: d_alphas.iter().map(T::into).collect(),
        d_means: d_means.iter().map(T::into).collect(),
        d_icf: d_icf.iter().map(T::into).collect(),
        objective_ms,
        gradient_ms,
        compile_ms,
        peak_bytes,
    })
}

fn converted<T: Floating>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|x| T::from_f64(*x)).collect()
}

fn print_table(file: &Path, problem: &GmmFile, report: &GmmReport) -> Result<(), Failure> {
    print_line(format_args!(
        "{}: {} points in {} dimensions, {} Gaussians; backend {}",
        file.display(),
        problem.n,
        problem.d,
        problem.k,
        report.backend
    ))?;
    print_line(format_args!("objective  {}", report.objective))?;
    for (name, gradient) in [("d_alphas", &report.d_alphas), ("d_means", &report.d_means), ("d_icf", &report.d_icf)] {
        let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let first = &gradient[..gradient.len().min(4)];
        let more = if first.len() < gradient.len() { ", …" } else { "" };
        let first: Vec<_> = first.iter().map(|g| format!("{g:.6}")).collect();
        print_line(format_args!(
            "{name:<9}  [{}{more}]  {} entries, norm {norm:.6}",
            first.join(", "),
            gradient.len()
        ))?;
    }
    print_line(format_args!(
        "time       compile {:.2} ms, objective {:.2} ms, objective and gradient {:.2} ms",
        report.compile_ms, report.objective_ms, report.gradient_ms
    ))?;
    match report.peak_bytes {
        Some(bytes) => print_line(format_args!("memory     at most {:.1} MB of arrays", bytes as f64 / 1e6)),
        None => Ok(()),
    }
}
