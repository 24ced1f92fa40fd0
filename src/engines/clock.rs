//! The time of the host that hands reports on.

use std::time::SystemTime;

/// Nanoseconds since the Unix epoch.
pub(super) fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64)
}
