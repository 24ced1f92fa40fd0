//! hostint's own kinds of telemetry report, which cover the flows that Host-INT's cannot name: extended latency (NProto
//! 5) and extended drop-summary (NProto 6).

use std::net::{IpAddr, Ipv6Addr};

use super::cursor::Cursor;
use super::error::DecodeError;
use super::int_v05;
use super::int_v05::QueueWords;
use super::report_header::HEADER_BYTES;
use super::report_hostint::{GAP_BYTES, decode_gap, emit_gap};
use crate::model::{
    DropSummary, FlowKey, LatencyReport, QueueDepth, ReportVersion, ReportedPacket, Vlans,
};

/// Version of a flow description's layout.
const LAYOUT: u8 = 1;
const FLAG_IPV6: u8 = 0x80;
const FLAG_QUEUE: u8 = 0x40;
/// The hops have a word for their queue, and it is in bytes.
const FLAG_HOP_QUEUES: u8 = 0x20;
const FLAG_HOP_QUEUES_IN_BYTES: u8 = 0x10;

pub(super) const FLOW_BYTES: usize = 44;
const QUEUE_BYTES: usize = 8;

/// A VLAN id has 12 bits.
const VLAN_ID: u16 = 0x0fff;
/// The field for a queue's packets has 24 bits.
const MOST_PACKETS: u32 = 0x00ff_ffff;

/// Reads a whole datagram whose fixed header announces an extended latency report.
pub(super) fn decode_latency(datagram: &[u8], time_s: u32) -> Result<LatencyReport, DecodeError> {
    const AROUND_INT: usize = HEADER_BYTES + FLOW_BYTES + QUEUE_BYTES;
    let hops_in = |queues| {
        let bytes = datagram.len().checked_sub(AROUND_INT)?;
        int_v05::hops_in(bytes, queues)
    };
    let bad_length = DecodeError::Length {
        what: "extended latency report",
        found: datagram.len(),
        expected: "112 with two hops",
    };
    let fits = [QueueWords::Absent, QueueWords::Occupancy].map(hops_in);
    if fits == [None, None] {
        return Err(bad_length);
    }
    let mut cursor = Cursor::new(datagram);
    cursor.array::<HEADER_BYTES>("report header")?;
    let known = FLAG_QUEUE | FLAG_HOP_QUEUES | FLAG_HOP_QUEUES_IN_BYTES;
    let (flow, flags) = decode_flow(&mut cursor, known)?;
    let queue = decode_queue(&mut cursor, flags)?;
    let queues = match (flags & FLAG_HOP_QUEUES, flags & FLAG_HOP_QUEUES_IN_BYTES) {
        (0, in_bytes) => {
            cursor.check("unit of queues without words", 1, in_bytes.into(), 0)?;
            QueueWords::Absent
        }
        (_, 0) => QueueWords::Occupancy,
        _ => QueueWords::Bytes,
    };
    let hops = hops_in(queues).ok_or(bad_length)?;
    let (hops, sequence) = int_v05::decode_stack(&mut cursor, hops, queues)?;
    Ok(LatencyReport {
        version: ReportVersion::V05,
        time_s,
        arrival_ns: None,
        packet: ReportedPacket::Named { flow, queue },
        hops,
        sequence,
    })
}

pub(super) fn emit_latency(
    flow: &FlowKey,
    queue: Option<QueueDepth>,
    report: &LatencyReport,
    out: &mut Vec<u8>,
) {
    let queues = QueueWords::of(&report.hops);
    let of_hops = match queues {
        QueueWords::Absent => 0,
        QueueWords::Occupancy => FLAG_HOP_QUEUES,
        QueueWords::Bytes => FLAG_HOP_QUEUES | FLAG_HOP_QUEUES_IN_BYTES,
    };
    emit_flow(flow, queue.map_or(0, |_| FLAG_QUEUE) | of_hops, out);
    let queue = queue.unwrap_or_default();
    out.extend(queue.packets.min(MOST_PACKETS).to_be_bytes());
    out.extend(queue.bytes.to_be_bytes());
    int_v05::emit_stack(&report.hops, queues, report.sequence, out);
}

/// Reads a whole datagram whose fixed header announces an extended drop-summary report.
pub(super) fn decode_drop_summary(
    datagram: &[u8],
    time_s: u32,
) -> Result<DropSummary, DecodeError> {
    if datagram.len() != HEADER_BYTES + GAP_BYTES + FLOW_BYTES {
        return Err(DecodeError::Length {
            what: "extended drop-summary report",
            found: datagram.len(),
            expected: "80",
        });
    }
    let mut cursor = Cursor::new(datagram);
    cursor.array::<HEADER_BYTES>("report header")?;
    decode_gap(&mut cursor, time_s, |cursor| {
        decode_flow(cursor, 0).map(|(flow, _)| flow)
    })
}

pub(super) fn emit_drop_summary(summary: &DropSummary, out: &mut Vec<u8>) {
    emit_gap(summary, out);
    emit_flow(&summary.flow, 0, out);
}

/// Reads a flow and its flags; `further` are the known flags besides the address family's.
pub(super) fn decode_flow(
    cursor: &mut Cursor<'_>,
    further: u8,
) -> Result<(FlowKey, u8), DecodeError> {
    cursor.expect_u8("flow layout", LAYOUT)?;
    let flags = cursor.u8("flow flags")?;
    let unknown = flags & !(FLAG_IPV6 | further);
    cursor.check("unknown flow flags", 1, unknown.into(), 0)?;
    let protocol = cursor.u8("IP protocol")?;
    cursor.expect_u8("reserved flow byte", 0)?;
    let (sport, dport) = (cursor.u16("source port")?, cursor.u16("destination port")?);
    let outer = decode_vlan(cursor, "bits above the outer VLAN id")?;
    let inner = decode_vlan(cursor, "bits above the inner VLAN id")?;
    let ipv6 = flags & FLAG_IPV6 != 0;
    let flow = FlowKey {
        src: decode_address(cursor, ipv6)?,
        dst: decode_address(cursor, ipv6)?,
        sport,
        dport,
        protocol,
        vlans: Vlans { outer, inner },
    };
    Ok((flow, flags))
}

pub(super) fn emit_flow(flow: &FlowKey, flags: u8, out: &mut Vec<u8>) {
    let family = match flow.src.is_ipv6() || flow.dst.is_ipv6() {
        true => FLAG_IPV6,
        false => 0,
    };
    out.extend([LAYOUT, family | flags, flow.protocol, 0]);
    for field in [flow.sport, flow.dport] {
        out.extend(field.to_be_bytes());
    }
    for id in [flow.vlans.outer, flow.vlans.inner] {
        out.extend((id & VLAN_ID).to_be_bytes());
    }
    for address in [flow.src, flow.dst] {
        out.extend(sixteen_bytes(address).octets());
    }
}

fn decode_vlan(cursor: &mut Cursor<'_>, what: &'static str) -> Result<u16, DecodeError> {
    let word = cursor.u16(what)?;
    cursor.check(what, 2, (word & !VLAN_ID).into(), 0)?;
    Ok(word)
}

/// An IPv4 address takes its IPv4-mapped form.
fn sixteen_bytes(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    }
}

fn decode_address(cursor: &mut Cursor<'_>, ipv6: bool) -> Result<IpAddr, DecodeError> {
    if ipv6 {
        return cursor.array::<16>("IPv6 address").map(|bytes| bytes.into());
    }
    for expected in [0, 0, 0xffff] {
        let word = cursor.u32("IPv4-mapped address")?;
        cursor.check("beginning of an IPv4-mapped address", 4, word, expected)?;
    }
    cursor
        .array::<4>("IPv4-mapped address")
        .map(|bytes| bytes.into())
}

fn decode_queue(cursor: &mut Cursor<'_>, flags: u8) -> Result<Option<QueueDepth>, DecodeError> {
    let packets = cursor.u32("queue packets")?;
    cursor.check(
        "bits above the queue packets",
        4,
        packets & !MOST_PACKETS,
        0,
    )?;
    let bytes = cursor.u32("queue bytes")?;
    if flags & FLAG_QUEUE != 0 {
        return Ok(Some(QueueDepth { packets, bytes }));
    }
    cursor.check("queue packets without flag", 8, packets, 0)?;
    cursor.check("queue bytes without flag", 4, bytes, 0)?;
    Ok(None)
}
