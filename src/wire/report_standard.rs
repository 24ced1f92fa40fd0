//! An INT sink's observations as standard reports about packets: v1.0 and v2.0.
//!
//! A packet that represents the flow carries the stack of both hops, so that any collector finds the latency. Values
//! that the standard has no field for travel in v2.0 as words of hostint's domain, and are left out of v1.0.

use super::int_stack::{self, DOMAIN, HOPS_IN_BYTES, QUEUE_BYTES, SEQUENCE, Stack};
use super::{fragment, report_header};
use crate::model::{
    Body, ClockState, DropSummary, Hop, HopQueue, HopStack, IntHeader, IntType, IntVersion,
    LatencyReport, Metadata, NodeId, Observation, Packet, PacketReport, QueueDepth, ReportDomain,
    ReportVersion, ReportedPacket,
};

/// Domain-specific metadata of a report (DSMdBits): the time it was made, and the missing numbers.
const MADE: u16 = 0x8000;
const GAP: u16 = 0x4000;

const NS_PER_S: u64 = 1_000_000_000;
/// A report's clock counts whole seconds, so a report may seem to be made this long before the packet arrived.
const EARLY_NS: u64 = NS_PER_S;

/// The v1.0 report about a packet; `None` if v1.0 cannot express the observation.
pub fn v10(observation: &Observation, dscp: u8) -> Option<PacketReport> {
    let Body::Latency(report) = &observation.body else {
        return None;
    };
    let hops = hops_of(report, u64::from);
    let stack = Stack {
        hops: &hops,
        source_words: (0, &[]),
    };
    let int = int_stack::emit(IntVersion::V10, &stack)?;
    let sink = report.hops.sink();
    Some(PacketReport {
        version: ReportVersion::V10,
        node: Some(sink.node),
        metadata: Metadata {
            ingress_ts: Some(sink.ingress_ts.into()),
            ..Metadata::default()
        },
        packet: Some(fragment::of(&report.flow(), dscp, &int)?),
        ..PacketReport::default()
    })
}

/// The individual v2.0 report about a packet; `None` if v2.0 cannot express the observation.
pub fn v20(observation: &Observation, dscp: u8) -> Option<PacketReport> {
    let (node, metadata, packet, bits) = match &observation.body {
        Body::Latency(report) => {
            let (metadata, packet) = v20_latency(report, dscp)?;
            (report.hops.sink().node, metadata, packet, MADE)
        }
        Body::DropSummary(summary) => {
            let ports = u32::from(summary.source_port) << 16 | u32::from(summary.sink_port);
            let metadata = Metadata {
                domain_words: vec![
                    summary.time_s,
                    summary.source_node.0,
                    ports,
                    summary.gap_time_s,
                    summary.before_seq,
                    summary.count,
                ],
                ..Metadata::default()
            };
            let packet = fragment::of(&summary.flow, 0, &[])?;
            (summary.sink_node, metadata, packet, MADE | GAP)
        }
        // It is one of this version already.
        Body::Packet(report) if report.version == ReportVersion::V20 => {
            return Some(PacketReport::clone(report));
        }
        Body::Packet(_)
        | Body::Summary(_)
        | Body::HostDrop(_)
        | Body::FlowPassage(_)
        | Body::Queue(_)
        | Body::Connection(_)
        | Body::PathPart(_)
        | Body::HostDropSum(_) => return None,
    };
    Some(PacketReport {
        version: ReportVersion::V20,
        node: Some(node),
        metadata,
        domain: Some(ReportDomain {
            id: DOMAIN,
            bits,
            status: u16::from(observation.clock.map_or(0, report_header::clock_byte)) << 8,
        }),
        packet: Some(packet),
        ..PacketReport::default()
    })
}

/// The time that a latency report was made, and the packet with the stack of its hops.
fn v20_latency(report: &LatencyReport, dscp: u8) -> Option<(Metadata, Packet)> {
    let arrival_ns = arrival_ns(report);
    let hops = hops_of(report, |ts| widened(ts, arrival_ns));
    let queue_bytes = report.queue().map(|queue| queue.bytes);
    let words: Vec<u32> = [report.sequence].into_iter().chain(queue_bytes).collect();
    let queue = queue_bytes.map_or(0, |_| QUEUE_BYTES);
    let mut queues = report.hops.transit().iter().filter_map(|hop| hop.queue);
    let unit = match queues.next() {
        Some(HopQueue::Bytes(_)) => HOPS_IN_BYTES,
        Some(HopQueue::Occupancy(_)) | None => 0,
    };
    let stack = Stack {
        hops: &hops,
        source_words: (SEQUENCE | queue | unit, &words),
    };
    let int = int_stack::emit(IntVersion::V2, &stack)?;
    let metadata = Metadata {
        ingress_ts: report.arrival_ns,
        domain_words: vec![report.time_s],
        ..Metadata::default()
    };
    let packet = fragment::of(&report.flow(), dscp, &int)?;
    Some((metadata, packet))
}

/// The observation that a hostint sink put into an individual report; `None` if another device made the report.
pub(super) fn observed(report: &PacketReport) -> Option<(Option<ClockState>, Body)> {
    let domain = report.domain.filter(|domain| domain.id == DOMAIN)?;
    let [clock, 0] = domain.status.to_be_bytes() else {
        return None;
    };
    let packet = report.packet.as_ref()?;
    let flow = packet.flow?;
    let words = report.metadata.domain_words.as_slice();
    let body = match (domain.bits, words, packet.int.as_slice()) {
        (MADE, [time_s], [header]) => {
            let (hops, queue) = hops_in(header)?;
            if report.node != Some(hops.sink().node) {
                return None;
            }
            Body::Latency(LatencyReport {
                version: ReportVersion::V20,
                time_s: *time_s,
                arrival_ns: report.metadata.ingress_ts,
                packet: ReportedPacket::Named { flow, queue },
                sequence: *header.source_words.first()?,
                hops,
            })
        }
        (0xc000, [time_s, node, ports, gap_time_s, before_seq, count], []) => {
            Body::DropSummary(DropSummary {
                version: ReportVersion::V20,
                time_s: *time_s,
                source_node: NodeId(*node),
                sink_node: report.node?,
                source_port: (ports >> 16) as u16,
                sink_port: *ports as u16,
                gap_time_s: *gap_time_s,
                before_seq: *before_seq,
                count: *count,
                flow,
            })
        }
        _ => return None,
    };
    Some((report_header::decode_clock(clock), body))
}

/// The hops in INT's form, with egress timestamps only if they differ from the ingress timestamps.
fn hops_of(report: &LatencyReport, wide: impl Fn(u32) -> u64) -> Vec<Metadata> {
    let stay = report
        .hops
        .iter()
        .any(|hop| hop.egress_ts != hop.ingress_ts);
    let mut hops: Vec<_> = report
        .hops
        .iter()
        .map(|hop| Metadata {
            node: Some(hop.node),
            ingress_port: Some(hop.ingress_port),
            egress_port: Some(hop.egress_port),
            ingress_ts: Some(wide(hop.ingress_ts)),
            egress_ts: stay.then(|| wide(hop.egress_ts)),
            queue_id: hop.queue.map(|_| 0),
            queue_occupancy: hop.queue.map(HopQueue::in_24_bits),
            ..Metadata::default()
        })
        .collect();
    if let (Some(source), Some(queue)) = (hops.last_mut(), report.queue()) {
        source.queue_id = Some(0);
        source.queue_occupancy = Some(queue.packets);
    }
    hops
}

/// The hops of a stack and the source's queue, if [`v20`] made the stack.
fn hops_in(header: &IntHeader) -> Option<(HopStack, Option<QueueDepth>)> {
    let domain = header.domain.filter(|domain| domain.id == DOMAIN)?;
    if header.truncated || (header.version, header.kind) != (IntVersion::V2, IntType::Md) {
        return None;
    }
    let in_bytes = domain.instructions & HOPS_IN_BYTES != 0;
    let instructions = domain.instructions & !HOPS_IN_BYTES;
    let queue = match (instructions, header.source_words.as_slice()) {
        (SEQUENCE, [_]) => None,
        (0xc000, [_, bytes]) => Some(QueueDepth {
            packets: header.hops.last()?.queue_occupancy?,
            bytes: *bytes,
        }),
        _ => return None,
    };
    // A value of all ones is read as no value.
    let transit = 1..header.hops.len().saturating_sub(1);
    let hops = header.hops.iter().enumerate().map(|(at, hop)| {
        let ingress_ts = hop.ingress_ts.unwrap_or(u64::MAX) as u32;
        Hop {
            node: hop.node.unwrap_or(NodeId(u32::MAX)),
            ingress_port: hop.ingress_port.unwrap_or(u16::MAX),
            egress_port: hop.egress_port.unwrap_or(u16::MAX),
            ingress_ts,
            egress_ts: hop.egress_ts.map_or(ingress_ts, |ts| ts as u32),
            queue: (hop.queue_occupancy.filter(|_| transit.contains(&at))).map(if in_bytes {
                HopQueue::Bytes
            } else {
                HopQueue::Occupancy
            }),
        }
    });
    let hops: Vec<_> = hops.collect();
    Some((HopStack::newest_first(&hops)?, queue))
}

/// Arrival of the packet, nanoseconds since the Unix epoch; if only the low 32 bits are known, the last such time
/// before the report was made.
fn arrival_ns(report: &LatencyReport) -> u64 {
    let latest = (u64::from(report.time_s) + 1) * NS_PER_S + EARLY_NS;
    let low = report.hops.sink().ingress_ts;
    let before = (latest as u32).wrapping_sub(low);
    report
        .arrival_ns
        .unwrap_or_else(|| latest.saturating_sub(before.into()))
}

/// The time closest to `near` with these low 32 bits.
fn widened(low: u32, near: u64) -> u64 {
    let ahead = low.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(ahead.into())
}
