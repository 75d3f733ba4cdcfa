//! The core of the accel language: types, typed syntax tree, surface, elaboration, printer, and reference interpreter.
//!
//! Users depend on the crate `accel`, which re-exports the relevant parts. The way of a program to its result:
//!
//! ```text
//! Rust functions --surface--> graph --elaborate--> typed tree (ast, pass, print) --backend, interp--> arrays
//! ```
#![forbid(unsafe_code)]

pub mod afun;
pub mod array;
pub mod ast;
pub mod backend;
mod batch;
pub mod by;
pub mod dependence;
pub mod elaborate;
pub mod error;
pub mod interp;
pub mod maths;
pub mod nan;
pub mod notice;
pub mod pass;
pub mod prelude;
pub mod print;
pub mod program_cache;
pub mod repr;
pub mod surface;
pub mod types;
