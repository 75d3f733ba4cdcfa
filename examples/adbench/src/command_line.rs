//! The options that both examples take.

use crate::Failure;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// The floating-point type to compute in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Single.
    F32,
    /// Double.
    F64,
}

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The problem; if none is given, the small file that ships with the project.
    pub input: Option<PathBuf>,
    /// The name of a backend; if none is given, the library's default.
    pub backend: Option<String>,
    /// The floating-point type to compute in.
    pub precision: Precision,
    /// The number of runs, at least one. The reported times are medians.
    pub repeat: usize,
    /// Whether to measure the peak memory as well.
    pub memory: bool,
    /// Whether to compute with `sparse_jacobian`, too, and compare.
    pub sparse: bool,
    /// Whether to print one JSON object instead of text.
    pub json: bool,
}

/// The command that a command line gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Print the help text.
    Help,
    /// Run the example.
    Run(Options),
}

/// Parses a command line, without the name of the program.
pub fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Command, Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut options = Options {
        input: None,
        backend: None,
        precision: Precision::F64,
        repeat: 1,
        memory: false,
        sparse: false,
        json: false,
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("input") => options.input = Some(parser.value()?.into()),
            Long("backend") => options.backend = Some(parser.value()?.string()?),
            Long("precision") => {
                options.precision = parser.value()?.parse_with(|word| match word {
                    "f32" => Ok(Precision::F32),
                    "f64" => Ok(Precision::F64),
                    _ => Err("expected f32 or f64"),
                })?;
            }
            Long("repeat") => {
                options.repeat = parser.value()?.parse_with(|word| match word.parse() {
                    Ok(number) if number > 0 => Ok(number),
                    _ => Err("expected a whole number from 1"),
                })?;
            }
            Long("memory") => options.memory = true,
            Long("sparse") => options.sparse = true,
            Long("json") => options.json = true,
            Long("help") | Short('h') => return Ok(Command::Help),
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(Command::Run(options))
}
