//! The frame of the ADBench examples: from the command line to the printed report.

use accel::backend::Backend;
use accel::interp::Interpreted;
use accel::prelude::*;
use accel::repr::ArrayTuple;
use accel::{ast, backend_named, default_backend};
use adbench::{Command, Failure, FileError, Options, Precision, exit_code, parse_args, print_line};
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

/// A problem of ADBench, and the computation for it.
pub trait Example: Sized {
    /// The first line of the help text.
    const ABOUT: &str;
    /// The contents of the JSON object, for the help text.
    const JSON: &str;
    /// The file of the problem that ships with the project, in `examples/data`.
    const SMALL: &str;
    /// Whether there is a Jacobian by `sparse_jacobian`.
    const SPARSE: bool = false;
    /// The results, with their times.
    type Report;

    /// Reads the problem from a file.
    fn read(file: &Path) -> Result<Self, FileError>;

    /// Computes with the precision of `T`.
    fn compute<T: Floating + Into<f64>>(&self, options: &Options, backend: &dyn Backend)
    -> Result<Self::Report, Error>;

    /// The report as a JSON object.
    fn json(&self, file: &Path, report: &Self::Report) -> impl Display;

    /// Prints the report.
    fn print(&self, file: &Path, report: &Self::Report) -> Result<(), Failure>;
}

/// Runs an example.
pub fn run<P: Example>() -> ExitCode {
    exit_code(run_example::<P>())
}

fn run_example<P: Example>() -> Result<(), Failure> {
    let options = match parse_args(std::env::args_os().skip(1))? {
        Command::Help => return print_line(help::<P>()),
        Command::Run(options) => options,
    };
    if options.sparse && !P::SPARSE {
        return Err(Failure::Usage("--sparse: only the example `ba` computes a sparse Jacobian".into()));
    }
    let small = || Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data").join(P::SMALL);
    let file = options.input.clone().unwrap_or_else(small);
    let problem = P::read(&file)?;
    let report = compute(&problem, &options)?;
    match options.json {
        true => print_line(problem.json(&file, &report)),
        false => problem.print(&file, &report),
    }
}

fn help<P: Example>() -> String {
    format!(
        "\
{}

  --input FILE           a problem in ADBench's text format (default: a small one that ships with the project)
  --backend NAME         where to run (default: the environment variable ACCEL_BACKEND, or the library's choice)
  --precision f32|f64    the floating-point type (default: f64)
  --repeat N             runs to take the median time of (default: 1)
  --memory               measure the peak memory too, by one more run on the reference interpreter
{}  --json                 print one JSON object with {}",
        P::ABOUT,
        if P::SPARSE { "  --sparse               compute it with `sparse_jacobian`, too, and compare\n" } else { "" },
        P::JSON
    )
}

fn compute<P: Example>(problem: &P, options: &Options) -> Result<P::Report, Failure> {
    let backend = match &options.backend {
        Some(name) => backend_named(name),
        None => default_backend(),
    };
    let backend = backend.map_err(|error| Failure::Usage(error.to_string()))?;
    let report = match options.precision {
        Precision::F32 => problem.compute::<f32>(options, backend),
        Precision::F64 => problem.compute::<f64>(options, backend),
    };
    report.map_err(|error| Failure::Compute(error.to_string()))
}

/// The peak memory of a run of a program, if the options ask for it.
pub fn peak_bytes(options: &Options, program: &ast::Program, inputs: &ArrayTuple) -> Result<Option<usize>, Error> {
    let measured = options.memory.then(|| Interpreted::new(program).run_measured(inputs));
    Ok(measured.transpose()?.map(|(_, bytes)| bytes))
}

/// Prints the peak memory after a label, if it was measured.
pub fn print_memory(label: &str, peak_bytes: Option<usize>) -> Result<(), Failure> {
    match peak_bytes {
        Some(bytes) => print_line(format_args!("{label}at most {:.1} MB of arrays", bytes as f64 / 1e6)),
        None => Ok(()),
    }
}
