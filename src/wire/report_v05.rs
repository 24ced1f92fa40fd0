//! Telemetry Report v0.5: the fixed header, the standard kinds, and the way to Host-INT's and ours.

use super::cursor::Cursor;
use super::{DecodeError, report_extended, report_hostint};
use crate::model::{
    Body, ClockSource, ClockState, Flags, HwId, LocalReport, NodeId, Observation, PacketDropReport,
    QueueOccupancy, Report, ReportedPacket, TruncatedFrame,
};

/// Bytes of the fixed header.
pub const HEADER_BYTES: usize = 12;

const VERSION: u8 = 0;
const KIND_ETHERNET: u8 = 0;
const KIND_DROP: u8 = 1;
const KIND_LOCAL: u8 = 2;
const KIND_DROP_SUMMARY: u8 = 3;
const KIND_LATENCY: u8 = 4;
const KIND_EXTENDED_LATENCY: u8 = 5;
const KIND_EXTENDED_DROP_SUMMARY: u8 = 6;

const FLAG_DROPPED: u8 = 0x80;
const FLAG_CONGESTED_QUEUE: u8 = 0x40;
const FLAG_TRACKED_FLOW: u8 = 0x20;

/// Of the header's third byte, which is reserved in the standard.
const CLOCK_SOURCE_SHIFT: u8 = 6;
const CLOCK_SYNCHRONISED: u8 = 0x20;
const CLOCK_TOLD: u8 = 0x10;

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
        KIND_ETHERNET => Body::Ethernet(rest_of(&cursor)),
        KIND_DROP => Body::Drop(decode_drop(&mut cursor)?),
        KIND_LOCAL => Body::Local(decode_local(&mut cursor)?),
        KIND_DROP_SUMMARY => Body::DropSummary(report_hostint::decode_drop_summary(datagram)?),
        KIND_LATENCY => Body::Latency(report_hostint::decode_latency(datagram)?),
        KIND_EXTENDED_LATENCY => Body::Latency(report_extended::decode_latency(datagram)?),
        KIND_EXTENDED_DROP_SUMMARY => {
            Body::DropSummary(report_extended::decode_drop_summary(datagram)?)
        }
        found => return Err(DecodeError::Kind { found }),
    };
    Ok(Report {
        sequence,
        observation: Observation {
            hw_id: HwId::new(hw_id).unwrap_or_default(),
            flags: Flags {
                dropped: flags & FLAG_DROPPED != 0,
                congested_queue: flags & FLAG_CONGESTED_QUEUE != 0,
                tracked_flow: flags & FLAG_TRACKED_FLOW != 0,
            },
            clock: decode_clock(clock),
            timestamp,
            body,
        },
    })
}

/// Appends the datagram of a report to `out`.
pub fn emit(report: &Report, out: &mut Vec<u8>) {
    match &report.observation.body {
        Body::Ethernet(frame) => {
            emit_header(KIND_ETHERNET, report, out);
            out.extend(&frame.0);
        }
        Body::Drop(drop) => {
            emit_header(KIND_DROP, report, out);
            emit_drop(drop, out);
        }
        Body::Local(local) => {
            emit_header(KIND_LOCAL, report, out);
            emit_local(local, out);
        }
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
    }
}

fn emit_header(kind: u8, report: &Report, out: &mut Vec<u8>) {
    let observation = &report.observation;
    let mut flags = 0;
    for (set, flag) in [
        (observation.flags.dropped, FLAG_DROPPED),
        (observation.flags.congested_queue, FLAG_CONGESTED_QUEUE),
        (observation.flags.tracked_flow, FLAG_TRACKED_FLOW),
    ] {
        if set {
            flags |= flag;
        }
    }
    let clock = observation.clock.map_or(0, clock_byte);
    out.extend([VERSION << 4 | kind, flags, clock, observation.hw_id.get()]);
    out.extend(report.sequence.to_be_bytes());
    out.extend(observation.timestamp.to_be_bytes());
}

fn clock_byte(clock: ClockState) -> u8 {
    let source = match clock.source {
        ClockSource::Unknown => 0,
        ClockSource::Tai => 1,
        ClockSource::Realtime => 2,
        ClockSource::Nic => 3,
    };
    let synchronised = match clock.synchronised {
        true => CLOCK_SYNCHRONISED,
        false => 0,
    };
    source << CLOCK_SOURCE_SHIFT | synchronised | CLOCK_TOLD
}

fn decode_clock(byte: u8) -> Option<ClockState> {
    (byte & CLOCK_TOLD != 0).then_some(ClockState {
        source: match byte >> CLOCK_SOURCE_SHIFT {
            1 => ClockSource::Tai,
            2 => ClockSource::Realtime,
            3 => ClockSource::Nic,
            _ => ClockSource::Unknown,
        },
        synchronised: byte & CLOCK_SYNCHRONISED != 0,
    })
}

/// Gives an emitted datagram another sequence number.
pub fn renumber(datagram: &mut [u8], sequence: u32) {
    if let Some(field) = datagram.get_mut(4..8) {
        field.copy_from_slice(&sequence.to_be_bytes());
    }
}

fn rest_of(cursor: &Cursor<'_>) -> TruncatedFrame {
    TruncatedFrame(cursor.rest().to_vec())
}

fn decode_drop(cursor: &mut Cursor<'_>) -> Result<PacketDropReport, DecodeError> {
    let node = NodeId(cursor.u32("drop header")?);
    let ingress_port = cursor.u16("drop header")?;
    let egress_port = cursor.u16("drop header")?;
    let queue_id = cursor.u8("drop header")?;
    let reason = cursor.u8("drop header")?;
    cursor.u16("drop header")?;
    Ok(PacketDropReport {
        node,
        ingress_port,
        egress_port,
        queue_id,
        reason,
        frame: rest_of(cursor),
    })
}

fn emit_drop(drop: &PacketDropReport, out: &mut Vec<u8>) {
    out.extend(drop.node.0.to_be_bytes());
    out.extend(drop.ingress_port.to_be_bytes());
    out.extend(drop.egress_port.to_be_bytes());
    out.extend([drop.queue_id, drop.reason, 0, 0]);
    out.extend(&drop.frame.0);
}

fn decode_local(cursor: &mut Cursor<'_>) -> Result<LocalReport, DecodeError> {
    let node = NodeId(cursor.u32("switch-local header")?);
    let ingress_port = cursor.u16("switch-local header")?;
    let egress_port = cursor.u16("switch-local header")?;
    let [queue_id, high, middle, low] = cursor.array("switch-local header")?;
    let occupancy = u32::from_be_bytes([0, high, middle, low]);
    let egress_ts = cursor.u32("switch-local header")?;
    Ok(LocalReport {
        node,
        ingress_port,
        egress_port,
        queue_id,
        queue_occupancy: QueueOccupancy::new(occupancy).unwrap_or_default(),
        egress_ts,
        frame: rest_of(cursor),
    })
}

fn emit_local(local: &LocalReport, out: &mut Vec<u8>) {
    out.extend(local.node.0.to_be_bytes());
    out.extend(local.ingress_port.to_be_bytes());
    out.extend(local.egress_port.to_be_bytes());
    let [_, high, middle, low] = local.queue_occupancy.get().to_be_bytes();
    out.extend([local.queue_id, high, middle, low]);
    out.extend(local.egress_ts.to_be_bytes());
    out.extend(&local.frame.0);
}
