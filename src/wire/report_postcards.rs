//! What a host tells of drops, hops and queues, as standard reports about packets: v0.5 as SD-Fabric's collectors read it,
//! and v2.0.
//!
//! A report has one packet of the flow, whose headers are made of the flow's key. What v0.5 has no field for is left out;
//! in v2.0 counts are words of hostint's domain.

use super::int_stack::DOMAIN;
use super::{fragment, packet};
use crate::model::drop_codes::code_of;
use crate::model::{
    Flags, FlowKey, FlowPassageReport, HostDropReport, HwId, Metadata, MxNotice, NodeId,
    PacketReport, QueuePacket, ReportDomain, ReportVersion, Subsystem,
};

/// Domain-specific metadata (DSMdBits): the counts of a flow's drops, of its packets, and of an episode.
const DROPS: u16 = 0x2000;
const HOPS: u16 = 0x1000;
const QUEUE: u16 = 0x0800;

/// A subsystem, the flags of its reports, and a report.
pub type StandardReport = (HwId, Flags, PacketReport);

/// The low 16 bits of an interface's index stand for a port; 0: there is none.
fn port(ifindex: u32) -> Option<u16> {
    Some(ifindex as u16)
}

/// Before v2.0 a time is its low 32 bits.
fn time(ns: u64, version: ReportVersion) -> Option<u64> {
    Some(match version {
        ReportVersion::V20 => ns,
        ReportVersion::V05 | ReportVersion::V10 => u64::from(ns as u32),
    })
}

/// The high and the low half of a count.
fn halves(count: u64) -> [u32; 2] {
    [(count >> 32) as u32, count as u32]
}

/// The report of the newest drop of a flow. The packet is that on the wire, behind NAT.
pub fn drop(report: &HostDropReport, version: ReportVersion) -> StandardReport {
    let one = &report.drop;
    let mut metadata = Metadata {
        ingress_port: port(one.in_ifindex),
        egress_port: port(one.out_ifindex),
        queue_id: Some(0),
        ingress_ts: time(one.last_ns, version),
        drop_reason: Some(code_of(one.reason.name.as_deref(), one.place.as_deref())),
        ..Metadata::default()
    };
    if version == ReportVersion::V20 {
        let [segments, bytes] = [one.count.segments, one.count.bytes].map(halves);
        let age_ns = one.age_ns.unwrap_or(u32::MAX);
        let cgroup = one.cgroup.unwrap_or_default() as u32;
        metadata.domain_words.push(one.reason.number);
        metadata.domain_words.extend(segments);
        metadata.domain_words.extend(bytes);
        metadata.domain_words.extend([age_ns, one.netns, cgroup]);
    }
    let flags = Flags {
        dropped: true,
        ..Flags::default()
    };
    let packet = about(version, report.node, metadata, DROPS, &one.flow);
    (Subsystem::Drops.into(), flags, packet)
}

/// The report of the newest packet of a flow that passed.
pub fn hop(report: &FlowPassageReport, version: ReportVersion) -> StandardReport {
    let one = &report.hop;
    let mut metadata = Metadata {
        ingress_port: port(one.in_ifindex),
        egress_port: port(one.out_ifindex),
        ingress_ts: time(one.last_ns.saturating_sub(one.hop_ns.into()), version),
        egress_ts: time(one.last_ns, version),
        ..Metadata::default()
    };
    if version == ReportVersion::V20 {
        metadata.hop_latency_ns = Some(one.hop_ns);
        metadata.domain_words = vec![one.mean_hop_ns, one.max_hop_ns];
        metadata.domain_words.extend(halves(one.packets));
    } else {
        without_queue(&mut metadata);
    }
    let flags = Flags {
        tracked_flow: true,
        ..Flags::default()
    };
    let packet = about(version, report.node, metadata, HOPS, &one.flow);
    (Subsystem::Hops.into(), flags, packet)
}

/// The report of a packet that was over the trigger of its queue.
pub fn queue(node: NodeId, packet: &QueuePacket, version: ReportVersion) -> StandardReport {
    let wait_ns = packet.wait_ns.unwrap_or_default();
    let mut metadata = Metadata {
        ingress_port: port(0),
        egress_port: port(packet.ifindex),
        queue_id: Some(packet.queue as u8),
        queue_occupancy: Some(packet.queue_packets),
        ingress_ts: time(packet.left_ns.saturating_sub(wait_ns.into()), version),
        egress_ts: time(packet.left_ns, version),
        ..Metadata::default()
    };
    if version == ReportVersion::V20 {
        metadata.hop_latency_ns = packet.wait_ns;
        let [number, suppressed, drops] =
            [packet.episode, packet.suppressed, packet.drops].map(halves);
        metadata.domain_words.extend(number);
        metadata.domain_words.push(packet.queue_bytes);
        metadata.domain_words.extend(suppressed);
        metadata.domain_words.extend(drops);
    }
    let flags = Flags {
        congested_queue: true,
        ..Flags::default()
    };
    let report = about(version, node, metadata, QUEUE, &packet.flow);
    (Subsystem::Queues.into(), flags, report)
}

/// The report of a packet in INT-MX that passed a transit hop. Its headers are those of the packet, up to its INT.
pub fn mx(node: NodeId, card: &MxNotice) -> StandardReport {
    let metadata = Metadata {
        ingress_port: Some(card.ingress_port),
        egress_port: Some(card.egress_port),
        queue_id: card.queue_packets.map(|_| 0),
        queue_occupancy: card.queue_packets,
        ingress_ts: card.arrived_ns,
        egress_ts: Some(card.left_ns),
        ..Metadata::default()
    };
    let flags = Flags {
        tracked_flow: true,
        ..Flags::default()
    };
    let report = PacketReport {
        version: ReportVersion::V20,
        node: Some(node),
        metadata,
        packet: Some(packet::read(card.first, &card.quote, true)),
        ..PacketReport::default()
    };
    (Subsystem::MxPackets.into(), flags, report)
}

/// The fields of a queue are there in each v0.5 report about a packet that passed.
fn without_queue(metadata: &mut Metadata) {
    metadata.queue_id = Some(0);
    metadata.queue_occupancy = Some(0);
}

fn about(
    version: ReportVersion,
    node: NodeId,
    metadata: Metadata,
    bits: u16,
    flow: &FlowKey,
) -> PacketReport {
    let is_v20 = version == ReportVersion::V20;
    PacketReport {
        version,
        node: Some(node),
        metadata,
        domain: is_v20.then_some(ReportDomain {
            id: DOMAIN,
            bits,
            status: 0,
        }),
        packet: Some(fragment::frame(flow)),
        ..PacketReport::default()
    }
}
