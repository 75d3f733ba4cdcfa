//! A workload: a program and its reference, and what is asked of their times.

use accel::afun::{Afun, Compiled};
use accel::backend_named;
use accel::prelude::{Arrays, compile_on};
use std::time::Duration;

/// What goes wrong while a case is set up or run is shown in its row.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A row of the table.
pub struct Case {
    /// What filters look for besides the work.
    pub theme: &'static str,
    /// What is computed.
    pub work: String,
    /// Whose time it is compared with.
    pub reference: &'static str,
    /// What the row should reach.
    pub asked: Vec<Asked>,
    /// Makes the inputs, compiles the program, and compares the results of both sides. Called when it is this case's turn, so that
    /// the inputs of one case at a time are in memory.
    pub setup: Box<dyn FnOnce() -> Result<Pair>>,
}

impl Case {
    /// A row that `setup` makes ready.
    pub fn new(
        theme: &'static str,
        work: impl Into<String>,
        reference: &'static str,
        asked: impl Into<Vec<Asked>>,
        setup: impl FnOnce() -> Result<Pair> + 'static,
    ) -> Case {
        Case { theme, work: work.into(), reference, asked: asked.into(), setup: Box::new(setup) }
    }
}

/// What a row should reach.
#[derive(Clone, Copy)]
pub enum Asked {
    /// At least this many times as fast as the reference.
    Speed(f64),
    /// At most this many times the time of the reference.
    Cost(f64),
    /// At most this long.
    Within(Duration),
}

/// Both sides of a case.
pub struct Pair {
    /// A program of accel.
    pub ours: Measure,
    /// What it is compared with.
    pub reference: Measure,
}

/// One side of a case.
pub enum Measure {
    /// Work whose runs are timed.
    Work(Box<dyn FnMut() -> Result<()>>),
    /// Work in another process, which says how long it took.
    Elsewhere(Box<dyn FnMut() -> Result<Duration>>),
}

impl Measure {
    /// Work whose runs are timed; its result is dropped within the time.
    pub fn work<T>(mut f: impl FnMut() -> Result<T> + 'static) -> Measure {
        Measure::Work(Box::new(move || {
            std::hint::black_box(f()?);
            Ok(())
        }))
    }
}

/// Compiles a program for the native backend.
pub fn native<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> Result<Compiled<A, R>> {
    Ok(compile_on(backend_named("native")?, prog)?)
}

/// That our results are those of the reference, up to `tolerance` times the largest of them.
pub fn check_close<T: Copy + Into<f64>>(ours: &[T], reference: &[T], tolerance: f64) -> Result<()> {
    if ours.len() != reference.len() {
        return Err(format!("{} results where the reference has {}", ours.len(), reference.len()).into());
    }
    let largest = reference.iter().fold(0.0, |m: f64, x| m.max((*x).into().abs()));
    let differs = |(a, b): (&T, &T)| {
        let (a, b): (f64, f64) = ((*a).into(), (*b).into());
        // A NaN differs too.
        let close = (a - b).abs() <= tolerance * largest;
        !close
    };
    match ours.iter().zip(reference).position(differs) {
        None => Ok(()),
        Some(i) => {
            let (a, b): (f64, f64) = (ours[i].into(), reference[i].into());
            Err(format!("result {i} is {a}, that of the reference {b}").into())
        }
    }
}
