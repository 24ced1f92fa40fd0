//! Telemetry Report v0.5: the standard kinds, and the dispatch to Host-INT's and hostint's own.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_header::{
    FLAG_CONGESTED_QUEUE, FLAG_DROPPED, FLAG_INTERMEDIATE, FLAG_TRACKED_FLOW, VERSION,
    decode_clock, emit_header,
};
use super::{
    packet, report_connection, report_extended, report_framed, report_group, report_host_drop,
    report_hostint, report_passage, report_queue,
};
use crate::model::{
    Body, FirstHeader, Flags, HwId, Metadata, NodeId, Observation, PacketReport, Report,
    ReportVersion, ReportedPacket, SummarySubject,
};

const KIND_ETHERNET: u8 = 0;
const KIND_DROP: u8 = 1;
const KIND_LOCAL: u8 = 2;
const KIND_DROP_SUMMARY: u8 = 3;
const KIND_LATENCY: u8 = 4;
const KIND_EXTENDED_LATENCY: u8 = 5;
const KIND_EXTENDED_DROP_SUMMARY: u8 = 6;
const KIND_HOST_DROP: u8 = 10;
const KIND_HOST_HOP: u8 = 11;
const KIND_QUEUE: u8 = 12;
const KIND_CONNECTION: u8 = 13;
const KIND_GROUP_SUMMARY: u8 = 14;
const KIND_FRAMED: u8 = 15;

/// A queue's occupancy has 24 bits.
const MOST_OCCUPANCY: u32 = 0x00ff_ffff;

/// Reads one datagram. Reserved bits are ignored; the datagram's size is part of the format,
/// because no length field says where a report ends.
pub fn decode(datagram: &[u8]) -> Result<Report, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    let first = cursor.u8("report header")?;
    if first >> 4 != VERSION {
        return Err(DecodeError::Version { found: first >> 4 });
    }
    let flags = cursor.u8("report header")?;
    let clock = cursor.u8("report header")?;
    let hw_id = cursor.u8("report header")? & 0x3f;
    let sequence = cursor.u32("report sequence number")?;
    let timestamp = cursor.u32("report timestamp")?;
    let body = match first & 0x0f {
        kind @ (KIND_ETHERNET | KIND_DROP | KIND_LOCAL) => {
            let tracked = flags & FLAG_TRACKED_FLOW != 0;
            decode_packet(&mut cursor, kind, timestamp, tracked)?
        }
        KIND_DROP_SUMMARY => {
            let summary = report_hostint::decode_drop_summary(datagram, timestamp)?;
            Body::DropSummary(summary)
        }
        KIND_LATENCY => Body::Latency(report_hostint::decode_latency(datagram, timestamp)?),
        KIND_EXTENDED_LATENCY => {
            Body::Latency(report_extended::decode_latency(datagram, timestamp)?)
        }
        KIND_EXTENDED_DROP_SUMMARY => {
            Body::DropSummary(report_extended::decode_drop_summary(datagram, timestamp)?)
        }
        KIND_HOST_DROP => Body::HostDrop(Box::new(report_host_drop::decode(datagram, timestamp)?)),
        KIND_HOST_HOP => Body::FlowPassage(Box::new(report_passage::decode(datagram, timestamp)?)),
        KIND_QUEUE => Body::Queue(Box::new(report_queue::decode(datagram, timestamp)?)),
        KIND_CONNECTION => {
            Body::Connection(Box::new(report_connection::decode(datagram, timestamp)?))
        }
        KIND_GROUP_SUMMARY => Body::Summary(Box::new(report_group::decode(datagram, timestamp)?)),
        KIND_FRAMED => report_framed::decode(datagram, timestamp)?,
        found => {
            return Err(DecodeError::Kind {
                what: "report kind (NProto)",
                found,
                expected: "0 to 8, or 10 to 15",
            });
        }
    };
    let intermediate = matches!(body, Body::Latency(_)) && flags & FLAG_INTERMEDIATE != 0;
    Ok(Report {
        sequence,
        observation: Observation {
            hw_id: HwId::new(hw_id).unwrap_or_default(),
            flags: Flags {
                dropped: flags & FLAG_DROPPED != 0,
                congested_queue: flags & FLAG_CONGESTED_QUEUE != 0,
                tracked_flow: flags & FLAG_TRACKED_FLOW != 0,
                intermediate,
            },
            clock: decode_clock(clock),
            body,
        },
    })
}

/// Reads a standard report about a packet.
fn decode_packet(
    cursor: &mut Cursor<'_>,
    kind: u8,
    timestamp: u32,
    tracked: bool,
) -> Result<Body, DecodeError> {
    let (node, mut metadata) = match kind {
        KIND_DROP => decode_drop(cursor)?,
        KIND_LOCAL => decode_local(cursor)?,
        _ => (None, Metadata::default()),
    };
    metadata.ingress_ts = Some(timestamp.into());
    Ok(Body::Packet(Box::new(PacketReport {
        version: ReportVersion::V05,
        node,
        metadata,
        // Without the flag there is no INT.
        packet: Some(packet::read(FirstHeader::Ethernet, cursor.rest(), tracked)),
        ..PacketReport::default()
    })))
}

/// Appends the datagram of a report to `out`; of a report of a later version, as much as v0.5 can express.
pub fn emit(report: &Report, out: &mut Vec<u8>) {
    match &report.observation.body {
        Body::Packet(packet) => emit_packet(report, packet, out),
        Body::DropSummary(summary) => {
            if let Some(flow) = report_hostint::Ipv4Flow::of(&summary.flow) {
                emit_header(KIND_DROP_SUMMARY, report, out);
                report_hostint::emit_drop_summary(summary, &flow, out);
            } else {
                emit_header(KIND_EXTENDED_DROP_SUMMARY, report, out);
                report_extended::emit_drop_summary(summary, out);
            }
        }
        Body::Latency(latency) => match &latency.packet {
            ReportedPacket::Quoted { reporter, headers } => {
                emit_header(KIND_LATENCY, report, out);
                report_hostint::emit_latency(*reporter, headers, latency, out);
            }
            ReportedPacket::Named { flow, queue } => {
                emit_header(KIND_EXTENDED_LATENCY, report, out);
                report_extended::emit_latency(flow, *queue, latency, out);
            }
        },
        Body::HostDrop(drop) => {
            emit_header(KIND_HOST_DROP, report, out);
            report_host_drop::emit(drop, out);
        }
        Body::FlowPassage(hop) => {
            emit_header(KIND_HOST_HOP, report, out);
            report_passage::emit(hop, out);
        }
        Body::Queue(queue) => {
            emit_header(KIND_QUEUE, report, out);
            report_queue::emit(queue, out);
        }
        Body::Connection(connection) => {
            emit_header(KIND_CONNECTION, report, out);
            report_connection::emit(connection, out);
        }
        // A collector makes it for its engines, and sends it to no collector.
        Body::PathPart(_) | Body::HostDropSum(_) => {}
        Body::Summary(summary) => match &summary.subject {
            SummarySubject::Group { class } => {
                emit_header(KIND_GROUP_SUMMARY, report, out);
                report_group::emit(summary, class.as_deref(), out);
            }
            SummarySubject::Flow {
                flow,
                source_port,
                sink_port,
            } => {
                emit_header(KIND_FRAMED, report, out);
                report_framed::emit_flow(summary, flow, (*source_port, *sink_port), out);
            }
        },
    }
}

fn emit_packet(report: &Report, packet: &PacketReport, out: &mut Vec<u8>) {
    match (packet.node, packet.metadata.drop_reason) {
        (None, None) => emit_header(KIND_ETHERNET, report, out),
        (node, Some(reason)) => {
            emit_header(KIND_DROP, report, out);
            emit_drop(node.unwrap_or_default(), &packet.metadata, reason, out);
        }
        (Some(node), None) => {
            emit_header(KIND_LOCAL, report, out);
            emit_local(node, &packet.metadata, out);
        }
    }
    if let Some(packet) = &packet.packet {
        out.extend(&packet.bytes);
    }
}

/// Sets the sequence number of an encoded datagram.
pub fn renumber(datagram: &mut [u8], sequence: u32) {
    if let Some(field) = datagram.get_mut(4..8) {
        field.copy_from_slice(&sequence.to_be_bytes());
    }
}

fn decode_drop(cursor: &mut Cursor<'_>) -> Result<(Option<NodeId>, Metadata), DecodeError> {
    let node = NodeId(cursor.u32("drop header")?);
    let metadata = Metadata {
        ingress_port: Some(cursor.u16("drop header")?),
        egress_port: Some(cursor.u16("drop header")?),
        queue_id: Some(cursor.u8("drop header")?),
        drop_reason: Some(cursor.u8("drop header")?),
        ..Metadata::default()
    };
    cursor.u16("drop header")?;
    Ok((Some(node), metadata))
}

fn emit_drop(node: NodeId, metadata: &Metadata, reason: u8, out: &mut Vec<u8>) {
    emit_node_and_ports(node, metadata, out);
    let queue = metadata.drop_queue_id.or(metadata.queue_id);
    out.extend([queue.unwrap_or_default(), reason, 0, 0]);
}

fn decode_local(cursor: &mut Cursor<'_>) -> Result<(Option<NodeId>, Metadata), DecodeError> {
    let node = NodeId(cursor.u32("switch-local header")?);
    let ingress_port = cursor.u16("switch-local header")?;
    let egress_port = cursor.u16("switch-local header")?;
    let [queue_id, high, middle, low] = cursor.array("switch-local header")?;
    let metadata = Metadata {
        ingress_port: Some(ingress_port),
        egress_port: Some(egress_port),
        queue_id: Some(queue_id),
        queue_occupancy: Some(u32::from_be_bytes([0, high, middle, low])),
        egress_ts: Some(cursor.u32("switch-local header")?.into()),
        ..Metadata::default()
    };
    Ok((Some(node), metadata))
}

fn emit_local(node: NodeId, metadata: &Metadata, out: &mut Vec<u8>) {
    emit_node_and_ports(node, metadata, out);
    let occupancy = metadata
        .queue_occupancy
        .unwrap_or_default()
        .min(MOST_OCCUPANCY);
    let [_, high, middle, low] = occupancy.to_be_bytes();
    out.extend([metadata.queue_id.unwrap_or_default(), high, middle, low]);
    let egress_ts = metadata.egress_ts.unwrap_or_default() as u32;
    out.extend(egress_ts.to_be_bytes());
}

fn emit_node_and_ports(node: NodeId, metadata: &Metadata, out: &mut Vec<u8>) {
    out.extend(node.0.to_be_bytes());
    for port in [metadata.ingress_port, metadata.egress_port] {
        out.extend(port.unwrap_or_default().to_be_bytes());
    }
}
