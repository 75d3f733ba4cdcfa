//! The number of runs of a function, and their times.

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// A measured time.
#[derive(Debug, Clone, Serialize)]
pub struct Timing {
    /// What was measured: `evaluate` for a run, `prepare` for compilation.
    pub name: &'static str,
    /// The time.
    pub nanoseconds: u128,
}

impl Timing {
    /// A measured time with this name.
    pub fn new(name: &'static str, time: Duration) -> Timing {
        Timing { name, nanoseconds: time.as_nanos() }
    }
}

/// The largest number of runs, even if they are short: an answer contains a piece of text for each.
pub const MOST_RUNS: u64 = 20_000;
/// The largest time for which a function is run repeatedly.
pub const MOST_SECONDS: f64 = 3600.0;

/// The number of runs and the time that the input of a function demands. The default is one run.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Repetition {
    min_runs: u64,
    min_seconds: f64,
}

impl Repetition {
    /// Checks that both are within the limits.
    ///
    /// # Errors
    /// The number that is not within its limit.
    pub fn checked(self) -> Result<Repetition, String> {
        if self.min_runs > MOST_RUNS {
            return Err(format!("`min_runs` is {}, and there are at most {MOST_RUNS} runs", self.min_runs));
        }
        if self.min_seconds > MOST_SECONDS {
            return Err(format!("`min_seconds` is {}, and runs go on for at most {MOST_SECONDS} s", self.min_seconds));
        }
        Ok(self)
    }

    /// Runs `work` once to prepare, since a backend may compile again for new extents. Then runs it as often as
    /// demanded, at least once and at most [`MOST_RUNS`] times. Returns the result of the last run, and the time of
    /// each.
    ///
    /// # Errors
    /// The first error of `work`.
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
            // The result is dropped here, outside the measured time, so that the next run can use its memory.
        }
    }
}

fn timed<T, E>(work: &mut impl FnMut() -> Result<T, E>) -> Result<(T, Duration), E> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed()))
}
