//! Every operation of the surface language against plain Rust, on every backend.

#[path = "conformance/mod.rs"]
mod suite;

use accel::interp::Interpreter;

#[test]
fn interpreter() {
    let checks = suite::all(&Interpreter);
    println!("{checks} results compared");
}

#[test]
fn native() {
    let checks = suite::all(accel::backend_named("native").unwrap());
    println!("{checks} results compared");
}
