//! Tests that do nothing on this machine.

/// Says that a test, or a part of it, did nothing here, and why. `scripts/test.sh` collects these lines.
pub fn left_out(why: &str) {
    // Not with `eprintln!`, whose output cargo hides.
    std::io::Write::write_all(&mut std::io::stderr(), format!("LEFT OUT: {why}\n").as_bytes()).expect("standard error");
}
