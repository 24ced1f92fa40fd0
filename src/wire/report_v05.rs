//! Telemetry Report v0.5: the fixed header, the standard kinds, and the way to Host-INT's.

use super::cursor::Cursor;
use super::{DecodeError, report_hostint};
use crate::model::{
    Body, Flags, HwId, LocalReport, NodeId, Observation, PacketDropReport, QueueOccupancy, Report,
    TruncatedFrame,
};

/// Bytes of the fixed header.
pub const HEADER_BYTES: usize = 12;

const VERSION: u8 = 0;
const KIND_ETHERNET: u8 = 0;
const KIND_DROP: u8 = 1;
const KIND_LOCAL: u8 = 2;
const KIND_DROP_SUMMARY: u8 = 3;
const KIND_LATENCY: u8 = 4;

const FLAG_DROPPED: u8 = 0x80;
const FLAG_CONGESTED_QUEUE: u8 = 0x40;
const FLAG_TRACKED_FLOW: u8 = 0x20;

/// Reads one datagram. Reserved bits are ignored; the datagram's size is part of the format,
/// because no length field says where a report ends.
pub fn decode(datagram: &[u8]) -> Result<Report, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    let first = cursor.u8("report header")?;
    if first >> 4 != VERSION {
        return Err(DecodeError::Version { found: first >> 4 });
    }
    let flags = cursor.u8("report header")?;
    cursor.u8("report header")?;
    let hw_id = cursor.u8("report header")? & 0x3f;
    let sequence = cursor.u32("report sequence number")?;
    let timestamp = cursor.u32("report timestamp")?;
    let body = match first & 0x0f {
        KIND_ETHERNET => Body::Ethernet(rest_of(&cursor)),
        KIND_DROP => Body::Drop(decode_drop(&mut cursor)?),
        KIND_LOCAL => Body::Local(decode_local(&mut cursor)?),
        KIND_DROP_SUMMARY => Body::DropSummary(report_hostint::decode_drop_summary(datagram)?),
        KIND_LATENCY => Body::Latency(report_hostint::decode_latency(datagram)?),
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
            timestamp,
            body,
        },
    })
}

/// Appends the datagram of a report to `out`.
pub fn emit(report: &Report, out: &mut Vec<u8>) {
    let observation = &report.observation;
    let kind = match observation.body {
        Body::Ethernet(_) => KIND_ETHERNET,
        Body::Drop(_) => KIND_DROP,
        Body::Local(_) => KIND_LOCAL,
        Body::DropSummary(_) => KIND_DROP_SUMMARY,
        Body::Latency(_) => KIND_LATENCY,
    };
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
    out.extend([VERSION << 4 | kind, flags, 0, observation.hw_id.get()]);
    out.extend(report.sequence.to_be_bytes());
    out.extend(observation.timestamp.to_be_bytes());
    match &observation.body {
        Body::Ethernet(frame) => out.extend(&frame.0),
        Body::Drop(drop) => emit_drop(drop, out),
        Body::Local(local) => emit_local(local, out),
        Body::DropSummary(summary) => report_hostint::emit_drop_summary(summary, out),
        Body::Latency(latency) => report_hostint::emit_latency(latency, out),
    }
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
