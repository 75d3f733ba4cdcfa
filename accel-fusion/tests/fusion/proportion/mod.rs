//! Checks that time is proportional to the length of a program.

use std::time::Duration;

/// Checks that an input of ten times the length takes at most forty times as long. Other work on the machine can slow
/// down one measurement, so one success in three attempts is enough. If the time grows faster than the length, all
/// attempts fail.
pub fn check(time: impl Fn(usize) -> Duration, n: usize) {
    let in_proportion = |_| {
        let (short, long) = (time(n / 10), time(n));
        println!("{} took {short:?}, {n} took {long:?}", n / 10);
        long < short * 40 + Duration::from_millis(200)
    };
    assert!((0..3).any(in_proportion));
}
