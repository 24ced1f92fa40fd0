//! A latency as it would be if both clocks showed the same time.

/// A one-way latency less the difference of the two clocks that stamped the packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CorrectedLatency {
    /// The best estimate.
    pub latency_ns: i64,
    /// The error of most estimates is no greater.
    pub error_ns: u64,
    /// The least and the greatest that the true latency can be.
    pub bound_ns: [i64; 2],
}

/// The stamps of packets have 32 bits.
const STAMP_WRAPS_NS: i128 = 1 << 32;

impl CorrectedLatency {
    /// Subtracts a difference of clocks, of which the estimate, its error, and the least and greatest are given. `None`
    /// if no true latency fits, for packets take no negative time: a clock was set, or a stamp is false.
    pub fn new(
        stamped_ns: i64,
        ahead_ns: i128,
        error_ns: i128,
        bound_ns: [i128; 2],
    ) -> Option<Self> {
        let half = STAMP_WRAPS_NS / 2;
        // Clocks that differ by seconds make stamps wrap.
        let likely = (i128::from(stamped_ns) - ahead_ns + half).rem_euclid(STAMP_WRAPS_NS) - half;
        let [least, most] = bound_ns;
        let high = likely + (ahead_ns - least);
        let low = (likely - (most - ahead_ns)).max(0);
        if high < 0 {
            return None;
        }
        Some(Self {
            latency_ns: i64::try_from(likely.clamp(low, high)).ok()?,
            error_ns: u64::try_from(error_ns).ok()?,
            bound_ns: [i64::try_from(low).ok()?, i64::try_from(high).ok()?],
        })
    }
}

/// What is known of the clocks that stamped a latency.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LatencyClocks {
    /// A line of an older version does not say.
    #[default]
    Unreported,
    Unknown,
    Known(CorrectedLatency),
}

impl LatencyClocks {
    pub fn corrected(self) -> Option<CorrectedLatency> {
        match self {
            Self::Known(corrected) => Some(corrected),
            Self::Unreported | Self::Unknown => None,
        }
    }
}

impl From<Option<CorrectedLatency>> for LatencyClocks {
    fn from(corrected: Option<CorrectedLatency>) -> Self {
        corrected.map_or(Self::Unknown, Self::Known)
    }
}
