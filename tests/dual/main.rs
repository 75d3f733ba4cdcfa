//! Derivatives of ordinary code.

mod checkpoints;
mod complexity;
mod forks;
mod functions;
mod generic_code;
mod paper;
mod structures;
mod support;
