//! The errors of differentiation.

/// Why a derivative could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number of another call, or one that was computed where nothing is recorded.
    #[error(
        "{op}: expected numbers of this call, found one of another call, or one computed on a thread that `join` and `par_map` did not start"
    )]
    Foreign {
        /// The function that was called.
        op: &'static str,
    },
    /// A number that moved from one parallel job to another, for example through a mutex.
    #[error(
        "{op}: expected numbers from before the fork, found one that a job took from another one that ran in parallel"
    )]
    Smuggled {
        /// The function that was called.
        op: &'static str,
    },
    /// More operations than a tape can have.
    #[error("the tape of a job: expected at most {limit} numbers, found more; `checkpoint` makes tapes shorter")]
    TapeFull {
        /// The largest number of inputs and operations.
        limit: u32,
    },
    /// A structure of another shape, such as a vector of another length.
    #[error("{op}: expected {expected}, found {found}")]
    Shape {
        /// The function that was called, or the operation.
        op: &'static str,
        /// The shape of the function's input or result.
        expected: String,
        /// That of the given tangent or cotangent.
        found: String,
    },
    /// The function of a checkpoint computed with a number that is not its argument.
    #[error(
        "checkpoint: expected a function of its argument only, found one that captures a number that depends on the input"
    )]
    Captured,
    /// The derivative of a custom operation failed.
    #[error("{op}: {reason}")]
    Custom {
        /// The operation.
        op: String,
        /// Its error.
        reason: String,
    },
}

/// A derivative, or why it could not be computed.
pub type Result<T> = std::result::Result<T, Error>;
