//! Kernels over many extents, each beside a loop written by hand, and the Gaussian mixture over a grid: where does speed
//! fall off? Prints the tables of benches/SWEEP.md.
//!
//! ```text
//! scripts/bench.sh --sweep [FILTER..]
//! ```

mod elementwise;
mod extents;
mod hand;
mod kernel;
mod linear;
mod mixture;
mod moving;
mod normal;
mod reductions;
mod scans;
mod stencils;

use bench_common::case::Result;
use bench_common::table::{Effort, Times, measure, median, print_machine, seconds};
use kernel::{Extents, Kernel, Sweep};
use std::io::Write;
use std::time::Duration;

const EFFORT: Effort = Effort { rounds: 3, rounds_elsewhere: 1, turn: Duration::from_millis(6) };
/// A row below the demand is measured again.
const AGAIN: Effort = Effort { rounds: 7, rounds_elsewhere: 1, turn: Duration::from_millis(15) };
/// Work that takes less time, on both sides, is in the table but not part of the demands.
const LEAST: f64 = 10e-6;
/// The demands on each row and on the median of all.
const EACH: f64 = 0.9;
const ALL: f64 = 1.2;

/// What the tables show.
const HEAD: &str = "\
`scripts/bench.sh --sweep` writes this file. It shows where speed falls off. Each kernel is compared with a loop that is written
by hand with rayon, in the same process, at extents from 10 to 10 million elements. The ratio is the time of the loop by hand over
ours. The result of a gradient's program is the adjoint of its argument. The other measurements are as in README.md. Rows are marked
if the work takes more than 10 µs on one side and the ratio is below 0.9. Such rows are measured twice; the second time counts. Most
rows with less work lose: the call of a compiled program checks its arguments and their extents, which takes 0.2 to 0.4 µs, more than
the loop itself. Both sides write to the memory of a result that was dropped: new memory from the system, which loops usually get,
takes several times as long as most loops.";

fn main() -> Result<()> {
    let filters: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()));
    let mut sweep = Sweep::default();
    let themes = [elementwise::add, reductions::add, moving::add, stencils::add, normal::add, linear::add, scans::add];
    for theme in themes {
        theme(&mut sweep);
    }
    println!("# Sweep\n");
    println!("{HEAD}\n");
    print_machine(&EFFORT);
    let kernels: Vec<Kernel> = sweep.0.into_iter().filter(|k| chosen(&k.name)).collect();
    if !kernels.is_empty() {
        println!("## Kernels beside loops by hand\n");
        print_kernels(kernels)?;
    }
    if chosen("mixture") {
        println!("\n## The mixture\n");
        mixture::print(&EFFORT, LEAST)?;
    }
    Ok(())
}

fn print_kernels(kernels: Vec<Kernel>) -> Result<()> {
    println!("| kernel | extents | by hand | ours | ratio | |");
    println!("| --- | --- | ---: | ---: | ---: | --- |");
    let mut counted: Vec<(f64, String)> = vec![];
    let mut small: Vec<f64> = vec![];
    let mut failed = 0;
    for Kernel { name, extents, compile } in kernels {
        let at = match compile() {
            Ok(at) => at,
            Err(reason) => {
                println!("| {name} | | | | | **not compiled: {}** |", one_line(&*reason));
                failed += 1;
                continue;
            }
        };
        for extents in extents {
            let text = extents.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
            match times(&at, extents) {
                Ok(times) => {
                    let counts = times.reference.max(times.ours) >= LEAST;
                    let mark = if is_below(&times) { "**below**" } else { "" };
                    let (by_hand, ours) = (seconds(times.reference), seconds(times.ours));
                    println!("| {name} | {text} | {by_hand} | {ours} | {:.2} | {mark} |", times.speed);
                    if counts {
                        counted.push((times.speed, format!("{name}, {text}")));
                    } else {
                        small.push(times.speed);
                    }
                }
                Err(reason) => {
                    println!("| {name} | {text} | | | | **not run: {}** |", one_line(&*reason));
                    failed += 1;
                }
            }
            std::io::stdout().flush()?;
        }
    }
    counted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let large: Vec<f64> = counted.iter().map(|(speed, _)| *speed).collect();
    let all = [&large[..], &small].concat();
    println!();
    for (which, speeds) in
        [("", &all), (" with more work, of which the demands are", &large), (" with less work", &small)]
    {
        let below = speeds.iter().filter(|speed| **speed < EACH).count();
        let middle = if speeds.is_empty() { f64::NAN } else { median(speeds.clone()) };
        println!("- {} rows{which}: median {middle:.2}, {below} below {EACH}", speeds.len());
    }
    println!("\nThe limit is {}; the demand on the median is {ALL}. {failed} rows failed.", seconds(LEAST));
    println!("The worst:\n");
    for (speed, row) in counted.iter().take(20) {
        println!("- {speed:.2}: {row}");
    }
    Ok(())
}

/// Both sides at some extents.
fn times(at: &kernel::At, extents: Extents) -> Result<Times> {
    let times = measure(at(extents)?, &EFFORT)?;
    if is_below(&times) { measure(at(extents)?, &AGAIN) } else { Ok(times) }
}

fn is_below(times: &Times) -> bool {
    times.reference.max(times.ours) >= LEAST && times.speed < EACH
}

fn one_line(reason: &dyn std::error::Error) -> String {
    reason.to_string().lines().next().unwrap_or_default().replace('|', "\\|")
}
