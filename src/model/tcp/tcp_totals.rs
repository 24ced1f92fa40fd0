//! A connection's news, and the counts of all connections.

use serde::{Deserialize, Serialize};

use crate::model::{LatencyHistogram, Limit, LimitedTimes, NodeId, OptionCounts, TcpSample};

/// Why a connection is reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
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

impl TcpNews {
    /// All news, by their numbers on the wire.
    pub const EACH: [Self; 5] = [
        Self::Open,
        Self::Change,
        Self::Sample,
        Self::End,
        Self::Gone,
    ];

    /// The number on the wire.
    pub fn number(self) -> u8 {
        self as u8
    }

    pub fn from_number(number: u8) -> Option<Self> {
        Self::EACH.get(usize::from(number)).copied()
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Change => "change",
            Self::Sample => "sample",
            Self::End => "end",
            Self::Gone => "gone",
        }
    }

    /// True if nothing more will be told of the connection.
    pub fn is_last(self) -> bool {
        matches!(self, Self::End | Self::Gone)
    }
}

/// A connection with its news.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct TcpReport {
    /// The connection's number at its host, which no other one has.
    #[serde(default)]
    pub id: u64,
    pub why: TcpNews,
    pub limited: Limit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// For how long each thing limited it, since it was seen first.
    #[serde(
        default,
        rename = "limited_us",
        skip_serializing_if = "LimitedTimes::is_empty"
    )]
    pub times: LimitedTimes,
    /// How often it was sampled.
    pub samples: u64,
    #[serde(flatten)]
    pub sample: TcpSample,
}

/// A report of a host about one of its connections.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConnectionReport {
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    pub node: NodeId,
    pub connection: TcpReport,
}

/// The number of open connections whose sender something limits.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct LimitedCount {
    pub limited: Limit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    pub connections: u64,
}

/// All connections since the daemon began.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
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
    /// Endings that were not reported, because of the limit, and because the ring was full.
    pub ends_limited: u64,
    pub ends_lost: u64,
    /// Endings that were not reported to collectors, because too many waited.
    pub ends_unreported: u64,
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
    /// The longest queue that option 114 told of each connection in each sample, in steps of 8 KiB.
    #[serde(skip)]
    pub path_queue_steps: LatencyHistogram,
    /// The latency of all hops that it told with the worst hop.
    #[serde(skip)]
    pub path_latency: LatencyHistogram,
    pub walks: u64,
    /// The duration of the last walk.
    pub walk_ns: u64,
    /// Absent if no segment carries option 114.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<OptionCounts>,
}
