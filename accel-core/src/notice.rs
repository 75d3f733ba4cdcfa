//! Messages that users must see even if nobody listens to `tracing`.

use std::io::Write;

/// Writes a line to standard error, unless the environment variable `ACCEL_QUIET` is `1`, and sends it to `tracing`.
pub fn notice(text: &str) {
    tracing::warn!("{text}");
    if std::env::var_os("ACCEL_QUIET").is_none_or(|q| q != "1") {
        // Standard error can be closed.
        let _ = writeln!(std::io::stderr(), "accel: {text}");
    }
}
