//! Ticks: moments that all loops of a process have in common. What is done again and again is due at ticks, so that a
//! daemon wakes once for all of it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::clock;

/// The time from one tick to the next. Shorter periods do without.
pub const TICK: Duration = Duration::from_millis(200);

/// The first tick, by both names of the monotonic clock.
static FIRST: OnceLock<(Instant, u64)> = OnceLock::new();

fn first() -> &'static (Instant, u64) {
    FIRST.get_or_init(|| (Instant::now(), clock::monotonic_ns()))
}

/// Returns the last tick before a time.
pub fn before(now: Instant) -> Instant {
    let since = now.saturating_duration_since(first().0);
    now - Duration::from_nanos((since.as_nanos() % TICK.as_nanos()) as u64)
}

/// Returns the last tick before a time of the monotonic clock.
pub fn before_ns(now_ns: u64) -> u64 {
    now_ns - now_ns.saturating_sub(first().1) % TICK.as_nanos() as u64
}
