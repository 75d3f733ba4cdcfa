//! Lowering: translates the typed tree to a kernel program.
//!
//! It accepts any program. Array variables are in memory (*manifest*). Nested producers (`generate`, and `map`,
//! `zip_with`, `replicate` of producers) are *delayed*: their scalar functions become part of the statement that uses
//! them. An array that a `let` binds is computed once and stored.

mod arrays;
mod delayed;
mod scalar;

pub use arrays::lower;
