//! A flow's counts, from its record in the sink's flow table.

use super::abi::sink_flow;
use crate::model::{FlowCounts, NodeId};

impl From<&sink_flow> for FlowCounts {
    fn from(flow: &sink_flow) -> Self {
        Self {
            node: NodeId(flow.source_node),
            packets: flow.packets,
            bytes: flow.bytes,
            lost: flow.lost,
            recovered: flow.recovered,
            reordered: flow.reordered,
            duplicates: flow.duplicates,
            latency_sum_ns: flow.latency_sum_ns,
            histogram: flow.histogram,
        }
    }
}
