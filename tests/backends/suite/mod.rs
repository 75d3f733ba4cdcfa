//! The conformance suite: [`all`] runs every operation of the surface language on a backend and compares the results
//! with a few lines of plain Rust. Any test can include this folder as a module and call it with its own backend.

mod calls;
mod check;
mod control;
mod derivatives;
mod elementwise;
mod floats;
mod folds;
mod foreign;
mod joining;
mod library;
mod making;
mod neighbours;
mod numbers;
mod permutes;
mod products;
mod programs;
mod rearranging;
mod replicating;
mod rows_by_index;
mod samples;
mod scans;
mod segments;
mod shapes;
mod small_vectors;
mod sorts;
mod tables;

use accel::ast::ACC_OPS;
use accel::backend::Backend;
use check::Suite;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::available_parallelism;

/// The groups of checks, by name.
const GROUPS: &[(&str, fn(&Suite))] = &[
    ("making arrays", making::all),
    ("element by element", elementwise::all),
    ("folds", folds::all),
    ("scans", scans::all),
    ("segments", segments::all),
    ("permute and scatter", permutes::all),
    ("sorting", sorts::all),
    ("rearranging", rearranging::all),
    ("replicate and slice", replicating::all),
    ("joining and splitting", joining::all),
    ("pads and stencils", neighbours::all),
    ("convolutions and products", products::all),
    ("the library", library::all),
    ("rows by index", rows_by_index::all),
    ("tables and order statistics", tables::all),
    ("shapes that agree", shapes::all),
    ("elements of several numbers", small_vectors::all),
    ("choices and loops", control::all),
    ("derivatives", derivatives::all),
    ("whole programs", programs::all),
    ("functions of numbers", calls::all),
    ("foreign functions", foreign::all),
    ("primitive functions of integers and bool", numbers::all),
    ("primitive functions of floats", floats::all),
];

/// Runs all groups on a backend and returns the number of compared results. Panics with the names of the groups that
/// fail, after their own messages were printed.
#[allow(dead_code, reason = "each test program uses a part")]
pub fn all(backend: &dyn Backend) -> usize {
    run(1, backend, false)
}

/// [`all`] with a fifth of the programs, another one for each revision: for devices whose compilers are slow.
#[allow(dead_code, reason = "each test program uses a part")]
pub fn fifth(backend: &dyn Backend) -> usize {
    run(1, backend, true)
}

/// [`all`] with the groups in several threads: a native backend spends most of the time in a C compiler, which uses one
/// core.
#[allow(dead_code, reason = "each test program uses a part")]
pub fn all_in_parallel(backend: &dyn Backend) -> usize {
    run(available_parallelism().map_or(1, NonZero::get), backend, false)
}

/// Runs all groups in this number of threads, with all of their programs or a fifth.
fn run(threads: usize, backend: &dyn Backend, part: bool) -> usize {
    let (next, count, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(vec![]));
    let covered = Mutex::new(BTreeSet::new());
    let work = || {
        while let Some((name, group)) = GROUPS.get(next.fetch_add(1, Relaxed)) {
            let suite = Suite::new(backend, part);
            if catch_unwind(AssertUnwindSafe(|| group(&suite))).is_err() {
                failed.lock().unwrap().push(*name);
            }
            count.fetch_add(suite.count(), Relaxed);
            covered.lock().unwrap().extend(suite.operations());
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "on `{}` these groups fail: {}", backend.name(), failed.join("; "));
    let covered = covered.into_inner().unwrap();
    let missing: Vec<_> = ACC_OPS.iter().filter(|op| !covered.contains(*op)).collect();
    assert!(missing.is_empty(), "no group runs {missing:?}");
    count.into_inner()
}
