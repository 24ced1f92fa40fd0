//! hostint's report of an episode of a host's queue (NProto 12).

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_extended::{decode_flow, emit_flow};
use super::report_header::HEADER_BYTES;
use super::report_names::{emit_name, name};
use crate::model::{
    MOST_QUEUE_FLOWS, NodeId, QueueEpisode, QueueFlow, QueueLimits, QueueMeasure, QueueReport,
};

/// Trigger and reset are bytes; else nanoseconds.
const BY_BYTES: u8 = 1;
/// The episode has ended.
const ENDED: u8 = 2;
/// Packets are timed.
const TIMED: u8 = 4;
const FLAGS: u8 = BY_BYTES | ENDED | TIMED;

/// Reads a whole datagram whose fixed header announces an episode.
pub(super) fn decode(datagram: &[u8], time_s: u32) -> Result<QueueReport, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    let cursor = &mut cursor;
    cursor.array::<HEADER_BYTES>("report header")?;
    let node = NodeId(cursor.u32("node ID")?);
    let (flags, flows) = flags_and_flows(cursor)?;
    let (ifindex, queue) = (cursor.u32("output port")?, cursor.u32("queue")?);
    let handle = cursor.u32("handle of the queue")?;
    let limits = limits(cursor, flags)?;
    let number = cursor.u64("number of the episode")?;
    let begin_ns = cursor.u64("time of the begin")?;
    let last_ns = cursor.u64("time of the last packet")?;
    let end_ns = cursor.u64("time of the end")?;
    let has_no_end = flags & ENDED == 0 && end_ns > 0;
    cursor.check("end of an episode that goes on", 8, has_no_end.into(), 0)?;
    let (packets, bytes) = (cursor.u64("packets")?, cursor.u64("bytes")?);
    let (told, suppressed) = (cursor.u64("packets told")?, cursor.u64("packets not told")?);
    let drops = cursor.u64("packets dropped")?;
    let (max_bytes, max_packets) = (cursor.u32("most bytes")?, cursor.u32("most packets")?);
    let max_time_ns = cursor.u32("longest time")?;
    let has_no_time = flags & TIMED == 0 && max_time_ns > 0;
    cursor.check(
        "time of packets that are not timed",
        4,
        has_no_time.into(),
        0,
    )?;
    // Each flow has some bytes, so the datagram bounds them.
    let flows = (0..flows).map(|_| flow(cursor)).collect::<Result<_, _>>()?;
    let episode = QueueEpisode {
        interface: name(cursor, "name of the output port")?,
        ifindex,
        queue,
        handle,
        limits,
        episode: number,
        begin_ns,
        last_ns,
        end_ns: (flags & ENDED != 0).then_some(end_ns),
        packets,
        bytes,
        told,
        suppressed,
        drops,
        max_bytes,
        max_packets,
        max_time_ns: (flags & TIMED != 0).then_some(max_time_ns),
        flows,
    };
    cursor.end("queue report", "no more than its names")?;
    Ok(QueueReport {
        time_s,
        node,
        episode,
    })
}

/// Reads the flags, and how many flows follow.
fn flags_and_flows(cursor: &mut Cursor<'_>) -> Result<(u8, u8), DecodeError> {
    let flags = cursor.u8("flags of a queue")?;
    cursor.check("unknown flags of a queue", 1, (flags & !FLAGS).into(), 0)?;
    let flows = cursor.u8("number of flows")?;
    let too_many = usize::from(flows) > MOST_QUEUE_FLOWS;
    cursor.check("more flows than possible", 1, too_many.into(), 0)?;
    let reserved = cursor.u16("reserved bytes of a queue")?;
    cursor.check("reserved bytes of a queue", 2, reserved.into(), 0)?;
    Ok((flags, flows))
}

/// Reads when an episode begins and ends, and how many packets are told of.
fn limits(cursor: &mut Cursor<'_>, flags: u8) -> Result<QueueLimits, DecodeError> {
    Ok(QueueLimits {
        quota: cursor.u32("quota")?,
        trigger: cursor.u64("trigger")?,
        reset: cursor.u64("reset")?,
        measure: match flags & BY_BYTES {
            0 => QueueMeasure::Time,
            _ => QueueMeasure::Bytes,
        },
    })
}

fn flow(cursor: &mut Cursor<'_>) -> Result<QueueFlow, DecodeError> {
    Ok(QueueFlow {
        packets: cursor.u64("packets of a flow")?,
        bytes: cursor.u64("bytes of a flow")?,
        flow: decode_flow(cursor, 0)?.0,
    })
}

/// Appends what follows the fixed header.
pub(super) fn emit(report: &QueueReport, out: &mut Vec<u8>) {
    let one = &report.episode;
    let mut flags = 0;
    for (set, flag) in [
        (one.limits.measure == QueueMeasure::Bytes, BY_BYTES),
        (one.end_ns.is_some(), ENDED),
        (one.max_time_ns.is_some(), TIMED),
    ] {
        if set {
            flags |= flag;
        }
    }
    let flows = one.flows.iter().take(MOST_QUEUE_FLOWS);
    out.extend(report.node.0.to_be_bytes());
    out.extend([flags, flows.len() as u8, 0, 0]);
    for word in [one.ifindex, one.queue, one.handle, one.limits.quota] {
        out.extend(word.to_be_bytes());
    }
    for number in [
        one.limits.trigger,
        one.limits.reset,
        one.episode,
        one.begin_ns,
        one.last_ns,
        one.end_ns.unwrap_or_default(),
        one.packets,
        one.bytes,
        one.told,
        one.suppressed,
        one.drops,
    ] {
        out.extend(number.to_be_bytes());
    }
    for word in [
        one.max_bytes,
        one.max_packets,
        one.max_time_ns.unwrap_or_default(),
    ] {
        out.extend(word.to_be_bytes());
    }
    for flow in flows {
        out.extend(flow.packets.to_be_bytes());
        out.extend(flow.bytes.to_be_bytes());
        emit_flow(&flow.flow, 0, out);
    }
    emit_name(one.interface.as_deref(), out);
}
