//! The time since the Unix epoch by a clock that may be wrong for a moment.

/// A clock that is set by less than this is followed at once.
const SLACK_NS: u64 = 60 * NS_PER_S;

/// A clock that is set by more is followed when it has kept its new time for this long.
const PATIENCE_NS: u64 = 60 * NS_PER_S;

/// What is old is removed when the clock has not been set for this long.
const SETTLED_NS: u64 = 600 * NS_PER_S;

const NS_PER_S: u64 = 1_000_000_000;

/// What is known of the time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SteadyTime {
    /// Nanoseconds since the Unix epoch.
    pub now_ns: u64,
    /// The clock was set long enough ago that what is old by it may be removed.
    pub is_settled: bool,
    /// How many times the clock was found to have been too far ahead.
    pub set_back: u64,
}

/// The host's clock, as far as it is trusted: between readings it goes on as the monotonic clock does, and one reading
/// that is far from that changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct SteadyWall {
    /// The time since the Unix epoch less that of the monotonic clock; `None` before the first reading.
    offset_ns: Option<i64>,
    /// Another offset, and the monotonic time when it was first seen.
    doubtful: Option<(i64, u64)>,
    /// The monotonic time when the present offset was first seen.
    since_ns: u64,
    set_back: u64,
}

impl SteadyWall {
    /// Takes a reading of both clocks. Returns the time that is trusted.
    pub fn read(&mut self, wall_ns: u64, monotonic_ns: u64) -> SteadyTime {
        let seen_ns = wall_ns
            .cast_signed()
            .wrapping_sub(monotonic_ns.cast_signed());
        let trusted_ns = match self.offset_ns {
            None => {
                self.since_ns = monotonic_ns;
                seen_ns
            }
            Some(offset_ns) => self.follow(offset_ns, seen_ns, monotonic_ns),
        };
        self.offset_ns = Some(trusted_ns);
        let settled_ns = monotonic_ns.saturating_sub(self.since_ns);
        SteadyTime {
            now_ns: monotonic_ns.saturating_add_signed(trusted_ns),
            is_settled: self.doubtful.is_none() && settled_ns >= SETTLED_NS,
            set_back: self.set_back,
        }
    }

    /// Returns the offset that is trusted now.
    fn follow(&mut self, trusted_ns: i64, seen_ns: i64, monotonic_ns: u64) -> i64 {
        if seen_ns.abs_diff(trusted_ns) <= SLACK_NS {
            self.doubtful = None;
            return seen_ns;
        }
        let since_ns = match self.doubtful {
            Some((doubtful_ns, since_ns)) if seen_ns.abs_diff(doubtful_ns) <= SLACK_NS => since_ns,
            _ => monotonic_ns,
        };
        self.doubtful = Some((seen_ns, since_ns));
        if monotonic_ns.saturating_sub(since_ns) < PATIENCE_NS {
            return trusted_ns;
        }
        self.doubtful = None;
        self.since_ns = monotonic_ns;
        self.set_back += u64::from(seen_ns < trusted_ns);
        seen_ns
    }
}
