//! The whole system as its users see it: the book's listings, the example programs, and faults of the machine around them.

mod book;
mod bundles;
mod command_line;
#[cfg(unix)]
mod faults;
mod run_into;
#[path = "../support/mod.rs"]
mod support;
