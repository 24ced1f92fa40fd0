//! What the packets of a pair were in an hour, as a history keeps it.

use crate::model::{CellCounts, LatencyHistogram, NodeId};

/// The length of an hour, ns.
pub const HOUR_NS: u64 = 3_600_000_000_000;

/// The packets from one node to another, of all classes, in an hour of the clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairHour {
    pub source: NodeId,
    pub sink: NodeId,
    pub begin_ns: u64,
    pub counts: CellCounts,
    /// The latencies as they were stamped.
    pub latency: LatencyHistogram,
    /// By how much the sink's clock was ahead of the source's, and the error of that; `None`: it is not known.
    pub clocks_ns: Option<(i64, u64)>,
}
