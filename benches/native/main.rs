//! The native backend, compared with hand-written code or with JAX.
//!
//! ```text
//! cargo bench --bench native                                criterion, all workloads (or those that a filter names)
//! cargo bench --bench native -- --table [--quick] [FILTER]  one table of ratios; see benches/README.md
//! ```

mod awhile;
mod ba;
mod ba_by_hand;
mod bandwidth;
mod forms;
mod gmm;
mod histogram;
mod learning;
#[path = "../programs/lstm_cell.rs"]
mod lstm_cell;
mod maps;
mod matmul;
mod neutrons;
mod operators_gradient;
mod permutes_gradient;
mod reductions_gradient;
mod scalar_loops;
mod scan;
mod small;
mod sort;
mod startup;
mod tiers;
mod tracing;
mod vmap;

use bench_common::case::{Case, Measure, Result};
use bench_common::table;
use criterion::Criterion;
use std::hint::black_box;
use std::time::Duration;

fn cases() -> Vec<Case> {
    let themes = [
        gmm::cases,
        ba::cases,
        bandwidth::cases,
        maps::cases,
        matmul::cases,
        scan::cases,
        sort::cases,
        reductions_gradient::cases,
        operators_gradient::cases,
        permutes_gradient::cases,
        histogram::cases,
        awhile::cases,
        scalar_loops::cases,
        tracing::cases,
        learning::cases,
        forms::cases,
        neutrons::cases,
        startup::cases,
        small::cases,
        tiers::cases,
        vmap::cases,
    ];
    themes.into_iter().flat_map(|theme| theme()).collect()
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        // The separate processes of the start-up benchmarks.
        ["--startup", file] => startup::run(file.as_ref()),
        [startup::LONG, name, steps] => startup::run_long(name, steps.parse()?),
        [learning::FIRST_RUN] => learning::first_run(),
        ["--table", ref options @ ..] => table::print(cases(), options),
        _ => criterion_benchmarks(cases()),
    }
}

/// All cases that are timed in this process. Other processes (JAX, program starts) are only in the table.
fn criterion_benchmarks(cases: Vec<Case>) -> Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    for case in cases {
        let mut group = criterion.benchmark_group(case.theme);
        group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
        let pair = match (case.setup)() {
            Ok(pair) => pair,
            Err(reason) => {
                eprintln!("{}: {}: {reason}", case.theme, case.work);
                continue;
            }
        };
        for (measure, name) in [(pair.reference, "reference"), (pair.ours, "ours")] {
            let Measure::Work(mut work) = measure else { continue };
            // The setup of a case runs both sides once. Later runs of the same work do not fail.
            group.bench_function(format!("{}/{name}", case.work), |b| b.iter(|| black_box(work().is_ok())));
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}
