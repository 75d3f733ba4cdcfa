//! Bundle adjustment, as far as the residuals and their sparse Jacobian: ADBench's BA problem.
//!
//! ```text
//! cargo run --release --example ba -- --input FILE [--backend B] [--precision f32|f64] [--repeat N] [--json]
//! ```

use adbench::{BaFile, BaReport, Command, Failure, Options, exit_code, parse_args, print_line};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
The residuals of bundle adjustment, and their sparse Jacobian by cameras, points and weights.

  --input FILE           a problem in ADBench's text format (default: a small one that ships with the project)
  --backend NAME         where to run (default: the environment variable ACCEL_BACKEND, or the library's choice)
  --precision f32|f64    the floating-point type (default: f64)
  --repeat N             runs to take the median time of (default: 1)
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

fn compute(_problem: &BaFile, _options: &Options) -> Result<BaReport, Failure> {
    Err(Failure::Compute("not yet".to_string()))
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
    ))
}
