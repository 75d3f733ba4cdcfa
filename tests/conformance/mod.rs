//! The conformance suite: [`all`] runs every operation of the surface language on a backend and compares with a few lines
//! of plain Rust. Any test can include this folder as a module and call it with its own backend.

mod calls;
mod check;
mod control;
mod elementwise;
mod floats;
mod folds;
mod making;
mod numbers;
mod permutes;
mod programs;
mod rearranging;
mod replicating;
mod samples;
mod scans;
mod shapes;

use accel::backend::Backend;
use check::Suite;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The groups of checks, by name.
const GROUPS: &[(&str, fn(&Suite))] = &[
    ("making arrays", making::all),
    ("element by element", elementwise::all),
    ("folds", folds::all),
    ("scans", scans::all),
    ("permute and scatter", permutes::all),
    ("rearranging", rearranging::all),
    ("replicate and slice", replicating::all),
    ("shapes that agree", shapes::all),
    ("choices and loops", control::all),
    ("whole programs", programs::all),
    ("functions of numbers", calls::all),
    ("primitive functions of integers and bool", numbers::all),
    ("primitive functions of floats", floats::all),
];

/// Runs all groups on a backend and returns how many results were compared. Panics with the names of the groups that fail;
/// the messages of the failures themselves have been printed before.
pub fn all(backend: &dyn Backend) -> usize {
    let suite = Suite::new(backend);
    let fails = |group: fn(&Suite)| catch_unwind(AssertUnwindSafe(|| group(&suite))).is_err();
    let failed: Vec<&str> = GROUPS.iter().filter(|(_, group)| fails(*group)).map(|(name, _)| *name).collect();
    assert!(failed.is_empty(), "on `{}` these groups fail: {}", backend.name(), failed.join("; "));
    suite.count()
}
