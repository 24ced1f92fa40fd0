//! The time since the Unix epoch as a collector tells it: a clock that is wrong for a moment changes nothing.

use std::sync::{Mutex, PoisonError};

use crate::clocks::{SteadyTime, SteadyWall};
use crate::model::WallTime;
use crate::os::clock;

static WALL: Mutex<Option<SteadyWall>> = Mutex::new(None);

/// Reads the host's clock, as far as it is trusted.
pub fn time() -> WallTime {
    let mut wall = WALL.lock().unwrap_or_else(PoisonError::into_inner);
    let wall = wall.get_or_insert_default();
    let SteadyTime {
        now_ns,
        is_settled,
        set_back,
    } = wall.read(clock::realtime_ns(), clock::since_boot_ns());
    WallTime {
        now_ns,
        is_settled,
        set_back,
    }
}

/// Returns nanoseconds since the Unix epoch.
pub fn now_ns() -> u64 {
    time().now_ns
}
