//! The flows of the sink as `hostint status` shows them, from its flow table.

use std::cmp::Reverse;
use std::io;

use super::events::encapsulation_of;
use super::fine_slots::FineSlots;
use super::flow_counts::counts_of;
use crate::datapath::abi::{flow_key, sink_flow, sink_flow_flag};
use crate::datapath::kernel::maps::Map;
use crate::model::{
    FlowCounts, FlowKey, FlowSlots, FlowSort, FlowStatus, LatencyHistogram, LatencyResolution,
    NodeId,
};

/// The flows to read: at most this many, the first ones in this order.
#[derive(Clone, Copy, Debug)]
pub struct FlowSelection {
    pub most: usize,
    pub sort: FlowSort,
}

/// A function that sees all flows, while none is removed.
pub type VisitFlow<'a> = &'a mut dyn FnMut(FlowKey, FlowCounts);

/// The flows that were read.
pub struct FlowsRead {
    pub total: usize,
    /// The number of flows with fine slots.
    pub fine: usize,
    pub selected: Vec<FlowStatus>,
}

/// Reads the flows, and returns the selected ones; `visit` sees all.
pub fn read(
    flows: &Map<flow_key, sink_flow>,
    slots: Option<&FineSlots>,
    selection: FlowSelection,
    mut visit: Option<VisitFlow<'_>>,
) -> io::Result<FlowsRead> {
    let (mut total, mut fine, mut found) = (0, 0, Vec::new());
    let mut failure = None;
    flows.for_each(|key, flow| {
        if flow.first_ns == 0 {
            return;
        }
        total += 1;
        fine += usize::from(flow.fine_slots != 0);
        if let Some(visit) = &mut visit {
            match slots_of(slots, &flow) {
                Ok(slots) => visit((&key).into(), counts_of(&flow, slots)),
                Err(err) => failure = Some(err),
            }
        }
        if selection.most > 0 {
            found.push(flow_status(&key, &flow));
        }
    })?;
    failure.map_or(Ok(()), Err)?;
    match selection.sort {
        FlowSort::Loss => found.sort_by_key(|flow| Reverse((flow.lost, flow.packets))),
        FlowSort::Latency => found.sort_by_key(|flow| Reverse(flow.latency_mean_ns)),
        FlowSort::Packets => found.sort_by_key(|flow| Reverse(flow.packets)),
    }
    found.truncate(selection.most);
    let mut selected = Vec::with_capacity(found.len());
    for status in found {
        let key = flow_key::from(&status.flow);
        selected.extend(with_latencies(flows, slots, &key)?);
    }
    Ok(FlowsRead {
        total,
        fine,
        selected,
    })
}

fn slots_of(slots: Option<&FineSlots>, flow: &sink_flow) -> io::Result<FlowSlots> {
    match slots {
        Some(slots) => slots.of_flow(flow),
        None => Ok(FlowSlots::coarse(&flow.histogram)),
    }
}

/// Reads a flow with its latencies, unless it is removed meanwhile: then its slots may be those of another.
fn with_latencies(
    flows: &Map<flow_key, sink_flow>,
    slots: Option<&FineSlots>,
    key: &flow_key,
) -> io::Result<Option<FlowStatus>> {
    let Some(before) = flows.get(key)? else {
        return Ok(None);
    };
    let counts = slots_of(slots, &before)?;
    let Some(flow) = flows.get(key)? else {
        return Ok(None);
    };
    if flow.fine_slots != before.fine_slots || flow.epoch_ns() != before.epoch_ns() {
        return Ok(None);
    }
    let ends = (flow.latency_min_ns, flow.latency_max_ns);
    let latency = counts.histogram(ends, flow.all_latency_sum_ns().into());
    let figures = latency.figures();
    Ok(Some(FlowStatus {
        histogram: counts.powers().to_vec(),
        latency_p50_ns: figures.and_then(|figures| figures.p50_ns),
        latency_p90_ns: figures.and_then(|figures| figures.p90_ns),
        latency_p99_ns: figures.and_then(|figures| figures.p99_ns),
        latency_steps: Some(latency.resolution().steps()),
        latency_slots: slots_reported(latency),
        ..flow_status(key, &flow)
    }))
}

/// The counts as a status tells them.
fn slots_reported(latency: LatencyHistogram) -> Vec<(i64, u32)> {
    let reported = latency.coarsened(LatencyResolution::Middle);
    reported
        .counts()
        .map(|(slot_ns, count)| (slot_ns, count as u32))
        .collect()
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
        encapsulation: encapsulation_of(encapsulation_number(flow))
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
        histogram: Vec::new(),
        latency_p50_ns: None,
        latency_p90_ns: None,
        latency_p99_ns: None,
        latency_steps: None,
        latency_slots: Vec::new(),
    }
}

/// The number of the encapsulation, without the flag that stands beside it.
fn encapsulation_number(flow: &sink_flow) -> u32 {
    u32::from(flow.encapsulation) & !sink_flow_flag::FLOW_HAD_HOPS.0
}
