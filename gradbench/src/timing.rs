//! How often a function is run, and how long that takes.

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How long something took.
#[derive(Debug, Clone, Serialize)]
pub struct Timing {
    /// What it was: `evaluate` for a run, `prepare` for compilation.
    pub name: &'static str,
    /// How long it took.
    pub nanoseconds: u128,
}

impl Timing {
    /// A timing of that name.
    pub fn new(name: &'static str, time: Duration) -> Timing {
        Timing { name, nanoseconds: time.as_nanos() }
    }
}

/// What the input of a function says about how often to run it: so many times, and for so long. One run, if it says nothing.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Repetition {
    min_runs: u64,
    min_seconds: f64,
}

impl Repetition {
    /// Runs `work` as often as wanted, at least once: the result of the last run, and the time of each.
    ///
    /// # Errors
    /// The first one of `work`.
    pub fn run<T, E>(self, mut work: impl FnMut() -> Result<T, E>) -> Result<(T, Vec<Timing>), E> {
        let mut timings = vec![];
        let mut total = Duration::ZERO;
        loop {
            let start = Instant::now();
            let result = work()?;
            let time = start.elapsed();
            total += time;
            timings.push(Timing::new("evaluate", time));
            let enough = timings.len() as u64 >= self.min_runs && total.as_secs_f64() >= self.min_seconds;
            if enough {
                return Ok((result, timings));
            }
            // Here, outside of the time, goes the result: its memory can be used by the next run.
        }
    }
}
