//! The clock of the host that stores.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::WallTime;

/// Reads a host's clock. That of a live store is steadier than the host's own.
pub type ReadClock = fn() -> WallTime;

/// Reads this host's clock as it is.
pub fn of_host() -> WallTime {
    WallTime {
        now_ns: now_ns(),
        is_settled: true,
        set_back: 0,
    }
}

/// Returns nanoseconds since the Unix epoch.
pub fn now_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_nanos() as u64)
}
