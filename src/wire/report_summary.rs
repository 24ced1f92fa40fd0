//! hostint's report about a whole flow: flow-summary (NProto 7).

use super::DecodeError;
use super::cursor::Cursor;
use super::report_extended::{FLOW_BYTES, decode_flow, emit_flow};
use super::report_v05::HEADER_BYTES;
use crate::model::{FlowSummary, FlowTotals, LATENCY_SLOTS, NodeId};

/// Nodes and ports, eight 64-bit totals, restarts, latency.
const TOTALS_BYTES: usize = 12 + 8 * 8 + 4 + 16;
const SLOT_BYTES: usize = 4;
/// Bytes of a report without slots of the histogram, including the word that names the slots.
const LEAST_BYTES: usize = HEADER_BYTES + TOTALS_BYTES + FLOW_BYTES + 4;

/// Bytes of a datagram with this number of histogram slots.
const fn summary_bytes(slots: usize) -> usize {
    LEAST_BYTES + SLOT_BYTES * slots
}

/// Reads a whole datagram whose fixed header announces a flow-summary report.
pub(super) fn decode(datagram: &[u8], time_s: u32) -> Result<FlowSummary, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    cursor.array::<HEADER_BYTES>("report header")?;
    let (source_node, sink_node) = (cursor.u32("source node ID")?, cursor.u32("sink node ID")?);
    let (source_port, sink_port) = (cursor.u16("source port")?, cursor.u16("sink port")?);
    let mut totals = FlowTotals {
        first_ns: cursor.u64("time of the first packet")?,
        last_ns: cursor.u64("time of the last packet")?,
        packets: cursor.u64("packets")?,
        bytes: cursor.u64("bytes")?,
        lost: cursor.u64("lost packets")?,
        reordered: cursor.u64("reordered packets")?,
        duplicates: cursor.u64("duplicates")?,
        late: cursor.u64("late packets")?,
        restarts: cursor.u32("restarts")?,
        latency_min_ns: cursor.u32("least latency")?.cast_signed(),
        latency_max_ns: cursor.u32("greatest latency")?.cast_signed(),
        latency_sum_ns: cursor.u64("sum of latencies")?.cast_signed(),
        histogram: [0; LATENCY_SLOTS],
    };
    let (flow, _) = decode_flow(&mut cursor, 0)?;
    let used = cursor.u32("slots of the histogram")?;
    if datagram.len() != summary_bytes(used.count_ones() as usize) {
        return Err(DecodeError::Length {
            what: "flow-summary report",
            found: datagram.len(),
            expected: "156 and 4 for each slot of the histogram",
        });
    }
    for (slot, count) in totals.histogram.iter_mut().enumerate() {
        if used >> slot & 1 != 0 {
            *count = cursor.u32("slot of the histogram")?;
        }
    }
    Ok(FlowSummary {
        time_s,
        source_node: NodeId(source_node),
        sink_node: NodeId(sink_node),
        source_port,
        sink_port,
        flow,
        totals,
    })
}

pub(super) fn emit(summary: &FlowSummary, out: &mut Vec<u8>) {
    for node in [summary.source_node, summary.sink_node] {
        out.extend(node.0.to_be_bytes());
    }
    for port in [summary.source_port, summary.sink_port] {
        out.extend(port.to_be_bytes());
    }
    let totals = &summary.totals;
    for total in [
        totals.first_ns,
        totals.last_ns,
        totals.packets,
        totals.bytes,
        totals.lost,
        totals.reordered,
        totals.duplicates,
        totals.late,
    ] {
        out.extend(total.to_be_bytes());
    }
    out.extend(totals.restarts.to_be_bytes());
    out.extend(totals.latency_min_ns.to_be_bytes());
    out.extend(totals.latency_max_ns.to_be_bytes());
    out.extend(totals.latency_sum_ns.to_be_bytes());
    emit_flow(&summary.flow, 0, out);
    let slots = || (0..).zip(totals.histogram).filter(|(_, count)| *count != 0);
    let used = slots().fold(0, |used: u32, (slot, _): (u32, u32)| used | 1 << slot);
    out.extend(used.to_be_bytes());
    for (_, count) in slots() {
        out.extend(count.to_be_bytes());
    }
}
