//! The clock of the host that stores.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns nanoseconds since the Unix epoch.
pub fn now_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_nanos() as u64)
}
