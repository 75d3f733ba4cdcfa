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

/// At most so many runs, however short they are: an answer has a line of text for each.
pub const MOST_RUNS: u64 = 20_000;
/// At most for so long is a function run again and again.
pub const MOST_SECONDS: f64 = 3600.0;

/// What the input of a function says about how often to run it: so many times, and for so long. One run, if it says nothing.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Repetition {
    min_runs: u64,
    min_seconds: f64,
}

impl Repetition {
    /// The same, if it is within the bounds.
    ///
    /// # Errors
    /// Which number is not.
    pub fn checked(self) -> Result<Repetition, String> {
        if self.min_runs > MOST_RUNS {
            return Err(format!("`min_runs` is {}, and there are at most {MOST_RUNS} runs", self.min_runs));
        }
        if self.min_seconds > MOST_SECONDS {
            return Err(format!("`min_seconds` is {}, and runs go on for at most {MOST_SECONDS} s", self.min_seconds));
        }
        Ok(self)
    }

    /// Runs `work` once to prepare, since a backend may compile once more for the extents that it sees, and then as often as wanted, at
    /// least once and at most [`MOST_RUNS`] times: the result of the last run, and the time of each.
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
            let enough = runs >= self.min_runs && total.as_secs_f64() >= self.min_seconds;
            if enough || runs >= MOST_RUNS {
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
