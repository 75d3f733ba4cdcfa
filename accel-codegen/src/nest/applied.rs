//! Schedules that ought to apply.

use super::edit::Why;
use accel_fusion::pipeline::Options;

/// The nest that a schedule has made. If the schedule does not apply, the caller writes a slower loop: users are not told but by
/// `tracing`, and with `ACCEL_STRICT=1`, as in our own tests, it is an error of the stage that writes the code.
pub fn applied<T>(schedule: &str, nest: Result<T, Why>) -> Option<T> {
    let failed = |Why(why): &Why| {
        assert!(!Options::from_env().is_ok_and(|o| o.strict), "the schedule for {schedule} does not apply: {why}");
        tracing::warn!(schedule, why, "a schedule does not apply: the loop is slower");
    };
    nest.inspect_err(failed).ok()
}
