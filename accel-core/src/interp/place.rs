//! Where an operation is in the user's source, for messages.

use crate::ast::Src;
use crate::error::Error;
use std::fmt;

/// An operation and its place in the user's source.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub name: &'static str,
    pub at: Src,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)?;
        self.at.map_or(Ok(()), |at| write!(f, " at {at}"))
    }
}

impl Place {
    /// Adds the place to the error of a primitive function.
    #[cold]
    pub fn blame(self, e: Error) -> Error {
        match e {
            Error::DivisionByZero { op, .. } => Error::DivisionByZero { op, within: format!(" in {self}") },
            other => other,
        }
    }
}
