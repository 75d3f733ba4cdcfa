//! The accel language: types, typed syntax trees, surface, elaboration, printer and the reference interpreter.
#![forbid(unsafe_code)]

pub mod afun;
pub mod array;
pub mod ast;
pub mod backend;
pub mod elaborate;
pub mod error;
pub mod interp;
pub mod pass;
pub mod prelude;
pub mod print;
pub mod repr;
pub mod surface;
pub mod types;
