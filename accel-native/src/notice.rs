//! What people must be told, whether or not somebody listens to `tracing`.

use std::io::Write;

/// Writes a line on standard error, unless the environment variable `ACCEL_QUIET` is `1`, and tells `tracing`.
pub fn notice(text: &str) {
    tracing::warn!("{text}");
    if std::env::var_os("ACCEL_QUIET").is_none_or(|q| q != "1") {
        // There may be no standard error.
        let _ = writeln!(std::io::stderr(), "accel: {text}");
    }
}
