//! A connection's news, and the counts of all connections.

use serde::Serialize;

use super::{LatencyHistogram, Limit, LimitedTimes, TcpSample};

/// Why a connection is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpNews {
    /// It was seen for the first time.
    Open,
    /// Something else limits its sender, or a retransmission timer ran out.
    Change,
    /// A period is over.
    Sample,
    /// It ended.
    End,
    /// It is gone, and its end was not seen.
    Gone,
}

/// A connection with its news.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct TcpReport {
    pub why: TcpNews,
    pub limited: Limit,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// For how long each thing limited it, since it was seen first.
    #[serde(rename = "limited_us", skip_serializing_if = "LimitedTimes::is_empty")]
    pub times: LimitedTimes,
    /// How often it was sampled.
    pub samples: u64,
    #[serde(flatten)]
    pub sample: TcpSample,
}

/// The number of open connections whose sender something limits.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct LimitedCount {
    pub limited: Limit,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    pub connections: u64,
}

/// All connections since the daemon began.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct TcpTotals {
    /// Open connections by what limits them.
    pub limited: Vec<LimitedCount>,
    pub open: u64,
    /// Connections that were established, that ended, and that were never established.
    pub begun: u64,
    pub ended: u64,
    pub failed: u64,
    /// Those that ended before a walk saw them.
    pub short: u64,
    /// Endings that were not told, because of the limit, and because the ring was full.
    pub ends_limited: u64,
    pub ends_lost: u64,
    /// Connections that are gone, and whose end was not seen.
    pub gone: u64,
    /// Samples of connections that the table had no room for.
    pub beyond: u64,
    /// Growth of the kernel's counts, summed over all connections.
    pub retransmitted_segments: u64,
    pub spurious_segments: u64,
    pub timeouts: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    /// The smoothed round-trip time of each connection in each sample.
    #[serde(skip)]
    pub srtt: LatencyHistogram,
    pub walks: u64,
    /// The duration of the last walk.
    pub walk_ns: u64,
}
