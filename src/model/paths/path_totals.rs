//! The times of all packets of a path over transit hops, as its sink tells them: of the whole path and of each segment.

use crate::model::{ClockSums, LatencyHistogram, Path};

/// Totals of a path since an epoch. A report may have a part of its segments.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathTotals {
    pub path: Path,
    pub times: Vec<PlaceTotals>,
}

/// The times at a place of a path: 0 is the whole path, then come its segments in the order of the way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlaceTotals {
    pub place: u8,
    /// Counting began at this time. Other totals of the same place have another epoch.
    pub epoch_ns: u64,
    /// Arrival of the last packet.
    pub last_ns: u64,
    /// By the stamps of the nodes, whose clocks may differ.
    pub latency: LatencyHistogram,
}

/// The totals that a sink reports at a time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathTotalsReport {
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    /// The time from one report to the next.
    pub period_ns: u64,
    pub totals: PathTotals,
}

/// The packets that a report adds to those that earlier ones told of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathGrowth {
    pub path: Path,
    pub times: Vec<PlaceGrowth>,
}

/// The packets that are added at a place of a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlaceGrowth {
    pub place: u8,
    pub latency: LatencyHistogram,
    /// The same times without the difference of the clocks, as far as that was known.
    pub corrected: ClockSums,
}
