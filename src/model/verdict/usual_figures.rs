//! What is usual, to compare with.

use serde::{Deserialize, Serialize};

/// What the usual is made of.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsualOrigin {
    /// There is no usual yet: it is compared with other traffic of the same time.
    #[default]
    None,
    /// The last hours.
    LastHours,
    /// The same hour of earlier days.
    SameHour,
}

/// The usual figures of a cell in an hour of the day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct UsualFigures {
    pub of: UsualOrigin,
    /// The days that it was learned from.
    pub days: u32,
    pub packets: u64,
    /// The share of lost packets.
    pub loss: f64,
    /// Latencies without the difference of the clocks, if `is_corrected`.
    pub is_corrected: bool,
    pub p05_ns: i64,
    pub p50_ns: i64,
    pub p99_ns: i64,
}

/// Figures of the packets that a cause is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct TrafficFigures {
    pub packets: u64,
    pub lost: u64,
    /// The share of lost packets.
    pub loss: f64,
    /// The share of packets that took longer than the slowest usual ones.
    pub slow: f64,
    pub p50_ns: Option<i64>,
    pub p99_ns: Option<i64>,
}
