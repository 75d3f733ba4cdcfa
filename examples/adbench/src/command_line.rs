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

/// What to run, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The problem; the small file that ships with the project if none was named.
    pub input: Option<PathBuf>,
    /// The name of a backend; the library's default if none was named.
    pub backend: Option<String>,
    /// The floating-point type to compute in.
    pub precision: Precision,
    /// How often to run, at least once; the reported times are medians.
    pub repeat: usize,
    /// Whether to measure the peak memory too.
    pub memory: bool,
    /// Whether to print one JSON object rather than text for people.
    pub json: bool,
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Print the help text.
    Help,
    /// Run the example.
    Run(Options),
}

/// Reads a command line, without the name of the program.
pub fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Command, Failure> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut options =
        Options { input: None, backend: None, precision: Precision::F64, repeat: 1, memory: false, json: false };
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
            Long("json") => options.json = true,
            Long("help") | Short('h') => return Ok(Command::Help),
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(Command::Run(options))
}
