//! Generates a problem in one of ADBench's text formats, and prints it:
//!
//! ```text
//! cargo run --example generate_adbench -- gmm D K N [SEED] > gmm.txt
//! cargo run --example generate_adbench -- ba N M P [SEED] > ba.txt
//! ```
//!
//! Files of bundle adjustment have one camera, point and observation that stand for all, so there is nothing to adjust. A scene with different
//! ones has a format of its own (`examples/adbench/src/scene.rs`):
//!
//! ```text
//! cargo run --example generate_adbench -- scene N M P [SEED] > scene.txt
//! ```

use adbench::{Failure, exit_code, generate_ba, generate_gmm, generate_scene};
use std::io::Write;
use std::process::ExitCode;

const USAGE: &str =
    "expected: gmm D K N [SEED], or: ba N M P [SEED], or: scene N M P [SEED], with positive whole numbers";

fn main() -> ExitCode {
    exit_code(generate())
}

fn generate() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let usage = || Failure::Usage(USAGE.to_string());
    let (kind, numbers) = args.split_first().ok_or_else(usage)?;
    let numbers: Vec<u32> = numbers
        .iter()
        .map(|word| word.parse().ok().filter(|number| *number > 0))
        .collect::<Option<_>>()
        .ok_or_else(usage)?;
    let (a, b, c, seed) = match numbers[..] {
        [a, b, c] => (a, b, c, 1),
        [a, b, c, seed] => (a, b, c, seed),
        _ => return Err(usage()),
    };
    let (a, b, c) = (a as usize, b as usize, c as usize);
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let written = match kind.as_str() {
        "gmm" => generate_gmm(seed.into(), a, b, c).write(&mut out),
        "ba" => generate_ba(seed.into(), a, b, c).write(&mut out),
        "scene" => generate_scene(seed.into(), a, b, c).write(&mut out),
        _ => return Err(usage()),
    };
    written.and_then(|()| out.flush()).map_err(|cause| Failure::Compute(format!("cannot write the problem: {cause}")))
}
