//! Errors before and around a computation.

use std::path::PathBuf;

/// A problem with an input file, as `FILE:LINE: expected …, found …`.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file could not be read.
    #[error("{}: expected a readable file, found: {cause}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        cause: std::io::Error,
    },
    /// A line does not have the form that the format demands.
    #[error("{}:{line}: expected {expected}, found {found}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The form that the format demands.
        expected: String,
        /// The text found there.
        found: String,
    },
}

/// The reason why an example ends without a result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// The input file is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// The computation, or writing its result, failed.
    #[error("{0}")]
    Compute(String),
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Failure::Usage(error.to_string())
    }
}
