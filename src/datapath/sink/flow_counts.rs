//! A flow's counts, from its record in the sink's flow table.

use crate::datapath::abi::sink_flow;
use crate::model::{FlowCounts, FlowSlots, NodeId};

/// Sums of the counters of the flow's home CPU and of those of all others.
impl sink_flow {
    pub fn all_packets(&self) -> u64 {
        self.packets.wrapping_add(self.other_packets)
    }

    pub fn all_bytes(&self) -> u64 {
        self.bytes.wrapping_add(self.other_bytes)
    }

    pub fn all_earned_bytes(&self) -> u64 {
        self.earned_bytes.wrapping_add(self.other_earned_bytes)
    }

    pub fn all_latency_sum_ns(&self) -> i64 {
        self.latency_sum_ns.wrapping_add(self.other_latency_sum_ns)
    }

    /// The arrival of its first packet, since which everything is counted.
    pub fn epoch_ns(&self) -> u64 {
        match self.began_ns {
            0 => self.first_ns,
            began_ns => began_ns,
        }
    }
}

/// The counts of a flow with these slots.
pub fn counts_of(flow: &sink_flow, slots: FlowSlots) -> FlowCounts {
    FlowCounts {
        node: NodeId(flow.source_node),
        packets: flow.all_packets(),
        bytes: flow.all_bytes(),
        lost: flow.lost,
        recovered: flow.recovered,
        reordered: flow.reordered,
        duplicates: flow.duplicates,
        late: flow.late,
        restarts: flow.restarts,
        first_ns: flow.epoch_ns(),
        last_ns: flow.last_ns,
        latency_min_ns: flow.latency_min_ns,
        latency_max_ns: flow.latency_max_ns,
        latency_sum_ns: flow.all_latency_sum_ns(),
        slots,
    }
}
