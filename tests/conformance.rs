//! Every operation of the surface language against plain Rust, on the reference interpreter.

#[path = "conformance/mod.rs"]
mod suite;

use accel::interp::Interpreter;

#[test]
fn interpreter() {
    let checks = suite::all(&Interpreter);
    println!("{checks} results compared");
}
