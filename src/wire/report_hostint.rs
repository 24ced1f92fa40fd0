//! Host-INT's two kinds of telemetry report: drop-summary (NProto 3) and latency (NProto 4).

use std::net::{IpAddr, Ipv4Addr};

use super::cursor::Cursor;
use super::error::DecodeError;
use super::int_v05;
use super::int_v05::QueueWords;
use super::report_header::HEADER_BYTES;
use crate::model::{
    DropSummary, FlowKey, LatencyReport, NodeId, QuotedHeaders, ReportVersion, ReportedPacket,
    Transport, Vlans,
};

const IP_BYTES: usize = 20;
const WORD_BYTES: usize = 4;
/// Two nodes, two ports, time, sequence number, count.
pub(super) const GAP_BYTES: usize = 24;
/// Version 4, five words, no options.
const IP_VERSION_LENGTH: u8 = 0x45;

/// A layout that a latency report of a given size may have; no field of the report names it.
#[derive(Clone, Copy)]
struct LatencyLayout {
    reporter_word: bool,
    transport: Transport,
    hops: usize,
}

impl LatencyLayout {
    /// Every layout of a datagram of `size` bytes, the one of an INT sink with two hops first.
    ///
    /// Host-INT sends 92 and 104 bytes with the node ID word (UDP, TCP), 88 and 100 without it. Another number of hops
    /// may fit as well: 88 bytes also hold one hop of TCP with the word.
    fn of_size(size: usize) -> impl Iterator<Item = Self> {
        let fitting = move |two_hops: bool| {
            [
                (true, Transport::Udp),
                (true, Transport::Tcp),
                (false, Transport::Udp),
                (false, Transport::Tcp),
            ]
            .into_iter()
            .filter_map(move |(reporter_word, transport)| {
                let word = if reporter_word { WORD_BYTES } else { 0 };
                let around = HEADER_BYTES + word + IP_BYTES + transport.quoted_bytes();
                let hops = int_v05::hops_in(size.checked_sub(around)?, QueueWords::Absent)?;
                ((hops == 2) == two_hops).then_some(Self {
                    reporter_word,
                    transport,
                    hops,
                })
            })
        };
        fitting(true).chain(fitting(false))
    }
}

/// Reads a whole datagram whose fixed header announces a latency report.
pub(super) fn decode_latency(datagram: &[u8], time_s: u32) -> Result<LatencyReport, DecodeError> {
    let mut refused = None;
    for layout in LatencyLayout::of_size(datagram.len()) {
        match decode_layout(datagram, layout, time_s) {
            Ok(report) => return Ok(report),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or(DecodeError::Length {
        what: "latency report",
        found: datagram.len(),
        expected: "88 or 100 without, 92 or 104 with the node ID word (UDP or TCP)",
    }))
}

fn decode_layout(
    datagram: &[u8],
    layout: LatencyLayout,
    time_s: u32,
) -> Result<LatencyReport, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    cursor.array::<HEADER_BYTES>("report header")?;
    let reporter = match layout.reporter_word {
        true => Some(NodeId(cursor.u32("reporter node ID")?)),
        false => None,
    };
    let offset = cursor.offset();
    let ip = cursor.array::<IP_BYTES>("quoted IPv4 header")?;
    check_ip(&ip, offset, layout.transport)?;
    let headers = match layout.transport {
        Transport::Udp => QuotedHeaders::new(ip, &cursor.array::<8>("quoted UDP header")?),
        Transport::Tcp => QuotedHeaders::new(ip, &cursor.array::<20>("quoted TCP header")?),
    }
    .map_err(|source| DecodeError::Headers { offset, source })?;
    let (hops, sequence) = int_v05::decode_stack(&mut cursor, layout.hops, QueueWords::Absent)?;
    Ok(LatencyReport {
        version: ReportVersion::V05,
        time_s,
        arrival_ns: None,
        packet: ReportedPacket::Quoted { reporter, headers },
        hops,
        sequence,
    })
}

pub(super) fn emit_latency(
    reporter: Option<NodeId>,
    headers: &QuotedHeaders,
    report: &LatencyReport,
    out: &mut Vec<u8>,
) {
    if let Some(node) = reporter {
        out.extend(node.0.to_be_bytes());
    }
    out.extend(headers.ip());
    out.extend(headers.l4());
    int_v05::emit_stack(&report.hops, QueueWords::Absent, report.sequence, out);
}

/// A flow that synthetic headers can name: TCP or UDP over IPv4 without VLAN tags.
pub(super) struct Ipv4Flow {
    src: Ipv4Addr,
    dst: Ipv4Addr,
    sport: u16,
    dport: u16,
    transport: Transport,
}

impl Ipv4Flow {
    pub(super) fn of(flow: &FlowKey) -> Option<Self> {
        match (flow.src, flow.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) if flow.vlans == Vlans::NONE => Some(Self {
                src,
                dst,
                sport: flow.sport,
                dport: flow.dport,
                transport: Transport::from_protocol(flow.protocol)?,
            }),
            _ => None,
        }
    }
}

/// Reads a whole datagram whose fixed header announces a drop-summary report.
pub(super) fn decode_drop_summary(
    datagram: &[u8],
    time_s: u32,
) -> Result<DropSummary, DecodeError> {
    const AROUND_L4: usize = HEADER_BYTES + GAP_BYTES + IP_BYTES;
    let transport = [Transport::Udp, Transport::Tcp]
        .into_iter()
        .find(|transport| datagram.len() == AROUND_L4 + transport.quoted_bytes())
        .ok_or(DecodeError::Length {
            what: "drop-summary report",
            found: datagram.len(),
            expected: "64 (UDP) or 76 (TCP)",
        })?;
    let mut cursor = Cursor::new(datagram);
    cursor.array::<HEADER_BYTES>("report header")?;
    decode_gap(&mut cursor, time_s, |cursor| {
        let offset = cursor.offset();
        let ip = cursor.array::<IP_BYTES>("synthetic IPv4 header")?;
        check_ip(&ip, offset, transport)?;
        let [.., s1, s2, s3, s4, d1, d2, d3, d4] = ip;
        Ok(FlowKey {
            src: Ipv4Addr::new(s1, s2, s3, s4).into(),
            dst: Ipv4Addr::new(d1, d2, d3, d4).into(),
            sport: cursor.u16("synthetic source port")?,
            dport: cursor.u16("synthetic destination port")?,
            protocol: transport.protocol(),
            vlans: Vlans::NONE,
        })
    })
}

/// Reads the part that both kinds of drop-summary report have after the fixed header, then the flow.
pub(super) fn decode_gap<'a>(
    cursor: &mut Cursor<'a>,
    time_s: u32,
    flow: impl FnOnce(&mut Cursor<'a>) -> Result<FlowKey, DecodeError>,
) -> Result<DropSummary, DecodeError> {
    Ok(DropSummary {
        version: ReportVersion::V05,
        time_s,
        source_node: NodeId(cursor.u32("source node ID")?),
        sink_node: NodeId(cursor.u32("sink node ID")?),
        source_port: cursor.u16("source port")?,
        sink_port: cursor.u16("sink port")?,
        gap_time_s: cursor.u32("gap timestamp")?,
        before_seq: cursor.u32("gap sequence number")?,
        count: cursor.u32("gap count")?,
        flow: flow(cursor)?,
    })
}

pub(super) fn emit_gap(summary: &DropSummary, out: &mut Vec<u8>) {
    out.extend(summary.source_node.0.to_be_bytes());
    out.extend(summary.sink_node.0.to_be_bytes());
    out.extend(summary.source_port.to_be_bytes());
    out.extend(summary.sink_port.to_be_bytes());
    out.extend(summary.gap_time_s.to_be_bytes());
    out.extend(summary.before_seq.to_be_bytes());
    out.extend(summary.count.to_be_bytes());
}

/// Appends a drop-summary report. Its synthetic headers name the flow; every other field is 0, except UDP's length.
pub(super) fn emit_drop_summary(summary: &DropSummary, flow: &Ipv4Flow, out: &mut Vec<u8>) {
    emit_gap(summary, out);
    out.extend([IP_VERSION_LENGTH, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend([flow.transport.protocol(), 0, 0]);
    out.extend(flow.src.octets());
    out.extend(flow.dst.octets());
    out.extend(flow.sport.to_be_bytes());
    out.extend(flow.dport.to_be_bytes());
    match flow.transport {
        Transport::Udp => out.extend([0, 8, 0, 0]),
        Transport::Tcp => out.extend([0; 16]),
    }
}

fn check_ip(ip: &[u8; IP_BYTES], offset: usize, transport: Transport) -> Result<(), DecodeError> {
    for (what, at, expected) in [
        ("IPv4 version and header length", 0, IP_VERSION_LENGTH),
        ("IP protocol", 9, transport.protocol()),
    ] {
        if ip[at] != expected {
            return Err(DecodeError::Field {
                what,
                offset: offset + at,
                found: ip[at].into(),
                expected: expected.into(),
            });
        }
    }
    Ok(())
}
