//! Checks that time is proportional to the length of a program.

use std::time::Duration;

/// Checks that an input of ten times the length takes at most thirty times as long, so that time that grows with the power 1.5
/// of the length is noticed. Other work on the machine only slows down: each time is the shortest of up to five. The few
/// milliseconds are for what the larger input needs beyond the caches; an input whose time grows with the square takes far longer.
pub fn check(time: impl Fn(usize) -> Duration, n: usize) {
    let (mut short, mut long) = (Duration::MAX, Duration::MAX);
    let in_proportion = |_| {
        (short, long) = (short.min(time(n / 10)), long.min(time(n)));
        long < short * 30 + Duration::from_millis(20)
    };
    let found = (0..5).any(in_proportion);
    assert!(found, "{} took {short:?}, {n} took {long:?}", n / 10);
}
