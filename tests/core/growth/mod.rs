//! Checks how time grows with the length of an input.

use std::time::{Duration, Instant};

/// Other work on the machine may disturb a measurement for as long as this.
const LONGEST: Duration = Duration::from_secs(30);

/// Checks that the longer one of two inputs takes less time than `allowed` for that of the shorter one. Other work on the machine
/// only slows down: each time is the shortest one, of as many as are needed.
pub fn within(lengths: [usize; 2], allowed: impl Fn(Duration) -> Duration, mut time: impl FnMut(usize) -> Duration) {
    let (start, mut shortest) = (Instant::now(), [Duration::MAX; 2]);
    loop {
        shortest = [0, 1].map(|k| shortest[k].min(time(lengths[k])));
        let [short, long] = shortest;
        if long < allowed(short) {
            return;
        }
        assert!(start.elapsed() < LONGEST, "{} took {short:?}, {} took {long:?}", lengths[0], lengths[1]);
    }
}
