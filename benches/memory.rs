//! The memory of the GMM gradient: the largest total size of inputs, results, intermediate arrays and the working memory of threads in
//! the first run. Later runs use this memory again. It is a separate program, because counting takes time.
//!
//! ```text
//! cargo bench --bench memory
//! ```
//!
//! It prints two rows of the table in benches/README.md.

use accel::backend_named;
use accel::prelude::*;
use adbench::GmmFile;
use bench_common::gmm::{inputs, large, program};
use peak_alloc::PeakAlloc;
use std::path::Path;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const FILE: &str = "10k_gmm_d10_K10";
/// The demand on the peak, as a multiple of the bytes of inputs and results.
const ASKED: f64 = 3.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/adbench/gmm");
    let work = format!("memory of the GMM gradient, {FILE}");
    if folder.is_dir() {
        print(&work, &GmmFile::read(&folder.join(FILE).with_extension("txt"))?)?;
    } else {
        println!(
            "| {work} | inputs + results | | | | ≤ {ASKED} | not run: ADBench's files are not beside this checkout |"
        );
    }
    let (name, problem) = large();
    print(&format!("memory of the GMM gradient, {name}"), &problem)
}

/// Prints the row of a mixture.
fn print(work: &str, problem: &GmmFile) -> Result<(), Box<dyn std::error::Error>> {
    let (parameters, x) = inputs(problem)?;
    let bytes = |numbers: usize| numbers * size_of::<f64>();
    let parameter_bytes = bytes(parameters.0.len() + parameters.1.len() + parameters.2.len());
    let input_bytes = parameter_bytes + bytes(x.len());
    let result_bytes = parameter_bytes + bytes(1);
    let native = backend_named("native")?;
    let gradient = compile_on(native, value_and_grad(&program(problem, &x)))?;
    // Another program starts the threads.
    compile_on(native, afun(|xs: Acc<Vector<f64>>| map(|x| x.sin(), xs)))?.run(&Array::vector(vec![1.0; 1 << 20]))?;

    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    gradient.run(&parameters)?;
    let peak = input_bytes + MEMORY.peak_usage().saturating_sub(before);

    let (least, ratio) = (input_bytes + result_bytes, peak as f64 / (input_bytes + result_bytes) as f64);
    let met = if ratio <= ASKED { "yes" } else { "no" };
    let megabytes = |bytes: usize| format!("{:.2} MB", bytes as f64 / 1e6);
    println!(
        "| {work} | inputs + results | {} | {} | {ratio:.2} | ≤ {ASKED} | {met} |",
        megabytes(least),
        megabytes(peak)
    );
    Ok(())
}
