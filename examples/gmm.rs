//! Fits a Gaussian mixture, as far as the objective and its gradient: ADBench's GMM problem.
//!
//! ```text
//! cargo run --release --example gmm -- --input FILE [--backend B] [--precision f32|f64] [--repeat N] [--json]
//! ```

use adbench::{Command, Failure, GmmFile, GmmReport, Options, exit_code, parse_args, print_line};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
The objective of a Gaussian mixture, and its gradient by the alphas, the means and the inverse covariance factors.

  --input FILE           a problem in ADBench's text format (default: a small one that ships with the project)
  --backend NAME         where to run (default: the environment variable ACCEL_BACKEND, or the library's choice)
  --precision f32|f64    the floating-point type (default: f64)
  --repeat N             runs to take the median time of (default: 1)
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

fn compute(_problem: &GmmFile, _options: &Options) -> Result<GmmReport, Failure> {
    Err(Failure::Compute("not yet".to_string()))
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
    ))
}
