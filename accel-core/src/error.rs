//! The error type of the library.

use std::panic::Location;

/// Any error of staging, compiling, differentiating or running a program.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Integer division or remainder by zero.
    #[error("{op}{within}: integer division by zero")]
    DivisionByZero {
        /// The primitive function.
        op: &'static str,
        /// ` in OPERATION at FILE:LINE:COLUMN`, or empty where unknown.
        within: String,
    },
    /// An index out of bounds.
    #[error("{op}: index {index:?} is outside the shape {shape:?}")]
    OutOfBounds {
        /// The operation that indexed, with its source line where known.
        op: String,
        /// The index, outermost dimension first.
        index: Vec<i64>,
        /// The extents, outermost first.
        shape: Vec<usize>,
    },
    /// Extents that are wrong for an operation.
    #[error("{op}: expected {expected}, found {found}")]
    Shape {
        /// The operation, with its source line where known.
        op: String,
        /// What the operation expected.
        expected: String,
        /// What it found.
        found: String,
    },
    /// A type mismatch that rustc cannot see.
    #[error("{op}: expected type {expected}, found {found}")]
    Type {
        /// The operation, with its source line where known.
        op: String,
        /// The expected type.
        expected: String,
        /// The type that was found.
        found: String,
    },
    /// An array computation that depends on a scalar variable.
    #[error(
        "`{op}` at {at} depends on the scalar variable of `{binder}` at {binder_at}: scalar code cannot compute arrays (nested parallelism); apply a function of arrays to each row with `vmap` instead of `{binder}`, compute the array outside, or index into it"
    )]
    NestedParallelism {
        /// The array operation.
        op: &'static str,
        /// Where it was written.
        at: &'static Location<'static>,
        /// The operation whose closure binds the variable.
        binder: &'static str,
        /// Where that was written.
        binder_at: &'static Location<'static>,
    },
    /// A handle that is used outside of its staging scope.
    #[error("`{op}` at {at} uses a value of another program or of a closure that has ended: {detail}")]
    Scope {
        /// The operation that used the handle.
        op: &'static str,
        /// Where it was written.
        at: &'static Location<'static>,
        /// What was wrong with the handle.
        detail: String,
    },
    /// Partial code that too many branches of conditionals share.
    #[error(
        "`{op}` at {at} is needed in too many branches of conditionals, each of which would get a copy of it: compute it before the conditionals"
    )]
    TooManyCopies {
        /// The operation.
        op: &'static str,
        /// Where it was written.
        at: &'static Location<'static>,
    },
    /// A wrong choice of the parts of an argument by which a program is differentiated.
    #[error("`by` at {at}: {detail}; choose arguments, their components, or tuples of these")]
    Choice {
        /// Where the choice was written.
        at: &'static Location<'static>,
        /// What was wrong with it.
        detail: String,
    },
    /// A function with a rule of one's own, where rules are not supported.
    #[error("{user}: `{op}` at {at} has a rule of its own, which traces do not have; `grad` and `vjp` use it")]
    Rule {
        /// What was asked for.
        user: &'static str,
        /// The function that gives the rule.
        op: &'static str,
        /// Where it was written.
        at: &'static Location<'static>,
    },
    /// A failure of a foreign function.
    #[error("{op}: {why}")]
    Foreign {
        /// The name of the function, with the source line where known.
        op: String,
        /// What it says.
        why: String,
    },
    /// A derivative of a foreign function without a rule.
    #[error("the foreign function `{op}` at {at} has no derivative: give it one with `custom_vjp` or `custom_jvp`")]
    NoDerivative {
        /// The name of the function.
        op: &'static str,
        /// Where it was written.
        at: &'static Location<'static>,
    },
    /// An array that does not fit into memory.
    #[error("{op}: no memory for an array of shape {shape:?}")]
    Memory {
        /// The operation, with its source line where known.
        op: String,
        /// The extents, outermost first.
        shape: Vec<usize>,
    },
    /// A result with NaN or infinity, in a run that looks for their origin ([`FindNan`](crate::nan::FindNan), or
    /// `ACCEL_NAN=1`).
    #[error("{0}")]
    NotFinite(String),
    /// A rank, extent or size that a host array cannot have.
    #[error("{0}")]
    Host(String),
    /// A wrong value of an environment variable.
    #[error("{name}: expected {expected}, found {found:?}")]
    Environment {
        /// The name of the variable.
        name: &'static str,
        /// What was expected.
        expected: &'static str,
        /// Its value.
        found: String,
    },
    /// A backend that does not exist, or is not built in.
    #[error("unknown backend {0:?}: expected one of {1}")]
    Backend(String, String),
    /// The C compiler of a backend failed, or its output cannot be loaded.
    #[error("compiling the generated C code: {0}")]
    Compiler(String),
    /// A file of arrays that cannot be written, or one without the arrays that are expected.
    #[error("the file {place}: {why}")]
    File {
        /// The file.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// A compiled program that cannot be stored in a file, or a file without a program that can be used here.
    #[error("the bundle {place}: {why}")]
    Bundle {
        /// The name of the file, or what else the program is in.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// A missing device, or a failure of its driver.
    #[error("OpenCL: {0}")]
    Device(String),
    /// Text that is not a kernel program.
    #[error("line {line}: expected {expected}, found {found}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What was expected there.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A broken invariant of the library: please report it.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Error {
    /// A row of a list with other extents than the rows before.
    pub fn other_row(op: String, before: &[usize], found: &[usize]) -> Error {
        Error::Shape {
            op,
            expected: format!("arrays of one shape in every step, such as {before:?}"),
            found: format!(
                "{found:?} (`pad` makes shorter arrays longer; `where_` replaces elements, where `filter` leaves them out)"
            ),
        }
    }
}

/// A result with this library's error type.
pub type Result<T> = std::result::Result<T, Error>;
