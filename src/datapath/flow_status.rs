//! The flows of the sink as `hostint status` shows them, from its flow table.

use std::cmp::Reverse;
use std::io;

use super::abi::{flow_key, sink_flow};
use super::events::encapsulation_of;
use super::maps::Map;
use crate::model::{FlowCounts, FlowKey, FlowSort, FlowStatus, NodeId};

/// The flows to read: at most this many, the first ones in this order.
#[derive(Clone, Copy, Debug)]
pub struct FlowSelection {
    pub most: usize,
    pub sort: FlowSort,
}

/// Returns the number of all flows, and the selected ones; `visit` sees all.
pub(super) fn read(
    flows: &Map<flow_key, sink_flow>,
    selection: FlowSelection,
    mut visit: impl FnMut(FlowKey, FlowCounts),
) -> io::Result<(usize, Vec<FlowStatus>)> {
    let (mut total, mut found) = (0, Vec::new());
    flows.for_each(|key, flow| {
        if flow.first_ns == 0 {
            return;
        }
        total += 1;
        visit((&key).into(), (&flow).into());
        if selection.most > 0 {
            found.push(flow_status(&key, &flow));
        }
    })?;
    match selection.sort {
        FlowSort::Loss => found.sort_by_key(|flow| Reverse((flow.lost, flow.packets))),
        FlowSort::Latency => found.sort_by_key(|flow| Reverse(flow.latency_mean_ns)),
        FlowSort::Packets => found.sort_by_key(|flow| Reverse(flow.packets)),
    }
    found.truncate(selection.most);
    Ok((total, found))
}

fn flow_status(key: &flow_key, flow: &sink_flow) -> FlowStatus {
    let bits = |words: &[u64]| {
        words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum::<u64>()
    };
    FlowStatus {
        flow: key.into(),
        source_node: NodeId(flow.source_node),
        source_port: flow.source_port,
        sink_port: flow.ifindex,
        encapsulation: encapsulation_of(flow.encapsulation.into())
            .unwrap_or_default()
            .name(),
        packets: flow.all_packets(),
        bytes: flow.all_bytes(),
        lost: flow.lost.saturating_sub(flow.recovered),
        missing: bits(&flow.fresh) + bits(&flow.aging),
        reordered: flow.reordered,
        duplicates: flow.duplicates,
        late: flow.late,
        restarts: flow.restarts,
        latency_min_ns: flow.latency_min_ns,
        latency_mean_ns: flow.all_latency_sum_ns()
            / i64::try_from(flow.all_packets().max(1)).unwrap_or(i64::MAX),
        latency_max_ns: flow.latency_max_ns,
        latency_last_ns: flow.latency_last_ns,
        bucket: flow.bucket,
        first_ns: flow.first_ns,
        last_ns: flow.last_ns,
        histogram: flow.histogram.to_vec(),
    }
}
