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
    /// Runs `work` once to prepare, since a backend may compile once more for the extents that it sees, and then as often as wanted, at
    /// least once: the result of the last run, and the time of each.
    ///
    /// # Errors
    /// The first one of `work`.
    pub fn run<T, E>(self, mut work: impl FnMut() -> Result<T, E>) -> Result<(T, Vec<Timing>), E> {
        let (_, preparation) = timed(&mut work)?;
        let mut timings = vec![Timing::new("prepare", preparation)];
        let (mut runs, mut total) = (0, Duration::ZERO);
        loop {
            let (result, time) = timed(&mut work)?;
            runs += 1;
            total += time;
            timings.push(Timing::new("evaluate", time));
            if runs >= self.min_runs && total.as_secs_f64() >= self.min_seconds {
                return Ok((result, timings));
            }
            // Here, outside of the time, goes the result: its memory can be used by the next run.
        }
    }
}

fn timed<T, E>(work: &mut impl FnMut() -> Result<T, E>) -> Result<(T, Duration), E> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}
