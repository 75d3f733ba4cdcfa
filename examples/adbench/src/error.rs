//! What can go wrong before and around a computation.

use std::path::PathBuf;

/// A problem with an input file, as `FILE:LINE: expected …, found …`.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file could not be read at all.
    #[error("{}: expected a readable file, found: {cause}", file.display())]
    Unreadable {
        /// The file asked for.
        file: PathBuf,
        /// What the operating system said.
        cause: std::io::Error,
    },
    /// A line does not hold what the format asks for.
    #[error("{}:{line}: expected {expected}, found {found}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What the format needs there.
        expected: String,
        /// What is there.
        found: String,
    },
}

/// Why an example ends without a result.
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
