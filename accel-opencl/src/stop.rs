//! The reasons why a run ends early.

use accel_core::error::Error;

/// The reason why a run ends early.
pub enum Stop {
    /// An error.
    Error(Error),
    /// Positions need more than 32 bits.
    Wide,
}

impl From<Error> for Stop {
    fn from(e: Error) -> Stop {
        Stop::Error(e)
    }
}

/// Results of functions that walk the statements.
pub type WalkResult<T> = std::result::Result<T, Stop>;

/// The error of a strip. Programs for devices have none: [`Source`](crate::compiled::Source) dissolves them.
pub fn strip() -> Error {
    Error::Internal("a strip, which only programs for processors have".into())
}
