//! Checks that time is proportional to the length of a program.

use crate::growth;
use std::time::Duration;

/// Checks that an input of ten times the length takes at most thirty times as long, so that time that grows with the power 1.5
/// of the length is noticed. The few milliseconds are for what the larger input needs beyond the caches; an input whose time grows
/// with the square takes far longer.
pub fn check(time: impl Fn(usize) -> Duration, n: usize) {
    growth::within([n / 10, n], |short| short * 30 + Duration::from_millis(20), time);
}
