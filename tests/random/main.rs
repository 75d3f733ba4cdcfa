//! Random programs and texts: backends agree with the interpreter, derivatives with each other, and readers refuse what is wrong.

mod budget;
mod check;
mod derived;
mod directions;
mod extents;
mod programs;
mod smallest;
#[path = "../support/mod.rs"]
mod support;
mod texts;
mod tracing;
mod wide;
