//! Where an operation is in the user's source, for messages.

use crate::ast::Src;
use crate::error::Error;
use std::fmt;

/// An operation, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub name: &'static str,
    pub at: Src,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "`{}` at {at}", at.name),
            None => write!(f, "`{}`", self.name),
        }
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
