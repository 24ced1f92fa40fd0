//! The time by a host's clock, and what is known of the clock.

/// A reading of a host's clock.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WallTime {
    /// Nanoseconds since the Unix epoch.
    pub now_ns: u64,
    /// The clock was set long enough ago that what is old by it may be removed.
    pub is_settled: bool,
    /// How many times the clock was found to have been too far ahead.
    pub set_back: u64,
}
