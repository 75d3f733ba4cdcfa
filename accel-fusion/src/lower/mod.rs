//! From the typed tree to the kernel program. Expects any program; array arguments that are variables are in memory
//! (manifest), nested producers (`generate`, `map`, `zip_with`, `replicate` of them) are delayed: their code becomes part of the loop
//! that uses them. What is let-bound is computed once and stored.

mod arrays;
mod delayed;
mod scalar;

pub use arrays::lower;
