//! A flow's totals since it began, which a sink reports periodically, so that a lost report does no harm.

use serde::{Deserialize, Serialize};

use super::{FlowKey, LATENCY_SLOTS, NodeId};

/// The totals of a flow's record since the flow began. Times are ns since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct FlowTotals {
    /// Arrival of the first packet. It distinguishes a flow from an earlier one with the same key.
    pub first_ns: u64,
    /// Arrival of the last packet.
    pub last_ns: u64,
    pub packets: u64,
    pub bytes: u64,
    /// Packets declared lost that have not arrived since.
    pub lost: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub late: u64,
    pub restarts: u32,
    pub latency_min_ns: i32,
    pub latency_max_ns: i32,
    pub latency_sum_ns: i64,
    /// Slot n > 0 counts packets with a latency in [2^(n-1), 2^n) ns, slot 0 those with 0 or less. The 32-bit counts
    /// wrap around.
    pub histogram: [u32; LATENCY_SLOTS],
}

/// A flow's totals as a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlowSummary {
    /// When the report was made, in whole seconds since the Unix epoch.
    pub time_s: u32,
    pub source_node: NodeId,
    pub sink_node: NodeId,
    pub source_port: u16,
    pub sink_port: u16,
    pub flow: FlowKey,
    pub totals: FlowTotals,
}

impl FlowTotals {
    /// `None` if there were no packets.
    pub fn latency_mean_ns(&self) -> Option<i64> {
        let packets = i64::try_from(self.packets).ok()?;
        self.latency_sum_ns.checked_div(packets)
    }
}
