//! Random programs: their definition, generation, translation to the surface language, evaluation and tests.

pub mod build;
mod chains;
pub mod functions;
pub mod generate;
pub mod handles;
pub mod indices;
pub mod loops;
pub mod objective;
pub mod plain;
pub mod program;
pub mod runner;
pub mod shrink;
