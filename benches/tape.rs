//! The gradient of a long loop of arrays: 1,000,000 steps with a state of 8 kB, and 64 MB for states. It is a separate
//! program, because counting memory takes time.
//!
//! ```text
//! cargo bench --bench tape
//! ```
//!
//! It prints two rows of the table in benches/README.md: the largest total size of the arrays in one run, and its time.

use accel::backend::Backend;
use accel::native::{Native, Options};
use accel::prelude::*;
use peak_alloc::PeakAlloc;
use std::time::Instant;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const STEPS: i64 = 1_000_000;
const ELEMENTS: usize = 1_000;
const BUDGET: usize = 64_000_000;
/// Both sides are measured alternately; the turn with the median ratio is printed.
const TURNS: usize = 5;
/// The demands on the peak, in megabytes, and on the time, as a multiple of that of the loop.
const ASKED: (f64, f64) = (80.0, 6.0);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The state passes through a sine, so that the derivative needs it.
    let program = afun(|xs: Acc<Vector<f64>>| {
        let step = |ys: Acc<Vector<f64>>| zip_with(|x, y| y * 0.999 + (x * y).sin() * 0.001, xs, ys);
        sum(aiterate(STEPS, step, xs))
    });
    let options = Options { tape_bytes: Some(BUDGET), ..Options::from_env().unwrap() };
    let native = Native::with(options);
    let xs: Vector<f64> = Array::vector((0..ELEMENTS).map(|i| i as f64 / ELEMENTS as f64).collect());
    let argument = Arrays::to_tuple(&xs);
    let timed = |program: &dyn accel::backend::Executable| {
        let start = Instant::now();
        program.run(&argument).map(|_| start.elapsed().as_secs_f64())
    };
    let gradient_of = grad(&program);
    let (primal, gradient) = (native.compile(program.program()?)?, native.compile(gradient_of.program()?)?);
    // The first runs start threads, and fault in memory.
    timed(&*primal)?;
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    timed(&*gradient)?;
    let peak = MEMORY.peak_usage().saturating_sub(before) as f64 / 1e6;

    let turns = (0..TURNS).map(|_| Ok((timed(&*primal)?, timed(&*gradient)?)));
    let mut turns = turns.collect::<Result<Vec<(f64, f64)>, Error>>()?;
    turns.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (primal_time, time) = turns[TURNS / 2];

    let work = "aiterate, 1,000,000 × 1,000 f64, gradient, 64 MB for states";
    let met = |met: bool| if met { "yes" } else { "no" };
    let (most, cost) = ASKED;
    println!("| memory of {work} | | | {peak:.1} MB | | ≤ {most} MB | {} |", met(peak <= most));
    let ratio = time / primal_time;
    println!(
        "| {work} | own primal | {primal_time:.2} s | {time:.2} s | {ratio:.2} of its time | ≤ {cost} of its time | {} |",
        met(ratio <= cost)
    );
    Ok(())
}
