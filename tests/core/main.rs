//! The language: surface, elaboration, printing, and the interpreter.

mod array;
mod batch;
mod deep;
mod deep_programs;
mod dependence;
mod elaborate;
mod elementwise;
mod errors;
#[cfg(feature = "npz")]
mod files;
mod growth;
mod half;
mod interp;
mod joining;
mod library;
mod prims;
mod sharing;
mod surface;
