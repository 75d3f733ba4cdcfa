//! The tool as GradBench starts it: messages on standard input, answers on standard output, everything else on standard
//! error.

use accel::{backend_named, default_backend};
use gradbench_accel::session::{Session, serve};
use lexopt::prelude::*;
use std::error::Error;
use std::io::{stdin, stdout};
use std::process::ExitCode;

const HELP: &str = "\
A tool of GradBench: reads an eval's messages on standard input and answers them on standard output.

  --backend NAME         where to run (default: the environment variable ACCEL_BACKEND, or the library's choice)
  --multithreaded        use all cores (default: one thread)
  --help                 print this";

/// The options of the command line.
struct Options {
    backend: Option<String>,
    multithreaded: bool,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            eprintln!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Parses the command line; `None` if it asks for help.
fn options() -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options { backend: None, multithreaded: false };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("backend") => options.backend = Some(parser.value()?.string()?),
            Long("multithreaded") => options.multithreaded = true,
            Long("help") | Short('h') => return Ok(None),
            _ => return Err(arg.unexpected()),
        }
    }
    Ok(Some(options))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    // This thread belongs to the pool. If it is the only one, no work moves to another thread.
    let threads = if options.multithreaded { 0 } else { 1 };
    rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread().build_global()?;
    let backend = match &options.backend {
        Some(name) => backend_named(name)?,
        None => default_backend()?,
    };
    serve(&mut Session::new(backend), stdin().lock(), stdout().lock())?;
    Ok(())
}
