//! Random programs and texts: backends agree with the interpreter, derivatives with each other, and readers refuse what is wrong.

mod budget;
mod directions;
mod narrow;
mod programs;
mod smallest;
#[path = "../support/mod.rs"]
mod support;
mod texts;
mod tracing;
mod wide;
