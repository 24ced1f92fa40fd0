//! The clock of the host that hands reports on.

use std::time::SystemTime;

/// Returns nanoseconds since the Unix epoch.
pub(super) fn now_ns() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |now| now.as_nanos() as u64)
}
