//! Transformations of typed trees that several parts of the compiler need. They are outside the trusted module.

mod close;
mod count;
mod rename;

pub use close::{aclose, close};
pub use count::{Counts, count};
pub use rename::{rename, rename_acc, rename_arrays};
