//! What a sink says of a flow every so often: totals since it began, so that a report that is lost does no harm.

use serde::{Deserialize, Serialize};

use super::{FlowKey, LATENCY_SLOTS, NodeId};

/// What a flow's record says since the flow began. Times are ns since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct FlowTotals {
    /// Of the first packet: tells a flow from one that had the same name before it.
    pub first_ns: u64,
    /// Of the last packet.
    pub last_ns: u64,
    pub packets: u64,
    pub bytes: u64,
    /// Lost for good: declared lost and not come since.
    pub lost: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub late: u64,
    pub restarts: u32,
    pub latency_min_ns: i32,
    pub latency_max_ns: i32,
    pub latency_sum_ns: i64,
    /// Slot n > 0: packets with a latency in [2^(n-1), 2^n) ns; slot 0: 0 or less. 32 bits, which begin anew at 0.
    pub histogram: [u32; LATENCY_SLOTS],
}

/// A flow at the sink whose totals are worth a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SummaryEvent {
    pub flow: FlowKey,
    pub source_node: NodeId,
    pub source_port: u16,
    pub sink_port: u16,
    pub totals: FlowTotals,
}

/// A flow's totals as a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlowSummary {
    /// Whole seconds since the Unix epoch: when the report was made.
    pub time_s: u32,
    pub source_node: NodeId,
    pub sink_node: NodeId,
    pub source_port: u16,
    pub sink_port: u16,
    pub flow: FlowKey,
    pub totals: FlowTotals,
}

impl FlowTotals {
    /// `None` without packets.
    pub fn latency_mean_ns(&self) -> Option<i64> {
        let packets = i64::try_from(self.packets).ok()?;
        self.latency_sum_ns.checked_div(packets)
    }
}
