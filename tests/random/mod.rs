//! Random programs: what they are, how they are made, written in the surface language, evaluated and tested.

pub mod agree;
pub mod build;
pub mod generate;
pub mod handles;
pub mod indices;
pub mod loops;
pub mod objective;
pub mod plain;
pub mod program;
pub mod runner;
pub mod shrink;
