//! The accel language: types, typed syntax trees, surface, elaboration, printer and the reference interpreter.
#![forbid(unsafe_code)]

pub mod array;
pub mod ast;
pub mod backend;
pub mod error;
pub mod interp;
pub mod pass;
pub mod prelude;
pub mod print;
pub mod repr;
pub mod surface;
pub mod types;

/// What the derive macros generate is made of.
#[doc(hidden)]
pub use surface::derive_support as __private;
