//! Time in proportion to the length of a program.

use std::time::Duration;

/// Checks that what is ten times as long takes no more than forty times as long. A machine that does other things as well may stop one of
/// them for a while, so one of three attempts is enough: what takes more than in proportion fails all.
pub fn check(time: impl Fn(usize) -> Duration, n: usize) {
    let in_proportion = |_| {
        let (short, long) = (time(n / 10), time(n));
        println!("{} took {short:?}, {n} took {long:?}", n / 10);
        long < short * 40 + Duration::from_millis(200)
    };
    assert!((0..3).any(in_proportion));
}
