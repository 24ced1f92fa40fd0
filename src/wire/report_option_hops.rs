//! hostint's report of the pairs of hosts whose TCP option 114 a transit hop fills in (NProto 15, sub-kind 7). It is about no
//! single packet, and has no number.

use std::net::{IpAddr, Ipv6Addr};

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_framed;
use super::report_header::HEADER_BYTES;
use super::summary_totals::MOST_SUMMARY_BYTES;
use crate::model::NodeId;
use crate::model::option_hops::{OptionHopPair, OptionHopsReport};

const SUB_KIND: u8 = 7;
/// Bytes before the pairs, the frame included.
const FIXED_BYTES: usize = HEADER_BYTES + 4 + 16;
const PAIR_BYTES: usize = 36;

/// True for a datagram that announces such pairs.
pub(super) fn is_one(datagram: &[u8]) -> bool {
    report_framed::announces(datagram, SUB_KIND)
}

/// Reads a whole datagram. What follows the pairs is left for later versions.
pub(super) fn decode(datagram: &[u8]) -> Result<OptionHopsReport, DecodeError> {
    let (_, mut cursor) = report_framed::open(datagram)?;
    let node = NodeId(cursor.u32("node ID")?);
    let told_ns = cursor.u64("time of the report")?;
    let count = cursor.u16("number of pairs")?;
    let reserved = cursor.u16("reserved bytes of pairs")?;
    cursor.check("reserved bytes of pairs", 2, reserved.into(), 0)?;
    // Each pair has some bytes, so the datagram bounds them.
    let pairs = (0..count)
        .map(|_| decode_pair(&mut cursor))
        .collect::<Result<_, _>>()?;
    Ok(OptionHopsReport {
        node,
        told_ns,
        pairs,
    })
}

fn decode_pair(cursor: &mut Cursor<'_>) -> Result<OptionHopPair, DecodeError> {
    let source = address(cursor.array("source of a pair")?);
    let dest = address(cursor.array("destination of a pair")?);
    let [ttl, a, b, c] = cursor.array("TTL of a pair")?;
    cursor.check("reserved bytes of a pair", 3, (a | b | c).into(), 0)?;
    Ok(OptionHopPair { source, dest, ttl })
}

fn address(bytes: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(bytes).to_canonical()
}

fn bytes_of(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Returns the datagrams of a report.
pub fn emit(report: &OptionHopsReport) -> Vec<Vec<u8>> {
    let most = (MOST_SUMMARY_BYTES - FIXED_BYTES) / PAIR_BYTES;
    let parts = report.pairs.chunks(most);
    parts.map(|pairs| datagram(report, pairs)).collect()
}

fn datagram(report: &OptionHopsReport, pairs: &[OptionHopPair]) -> Vec<u8> {
    let mut content = Vec::new();
    content.extend(report.node.0.to_be_bytes());
    content.extend(report.told_ns.to_be_bytes());
    // A datagram has room for fewer than a hundred.
    content.extend((pairs.len() as u16).to_be_bytes());
    content.extend([0, 0]);
    for pair in pairs {
        content.extend(bytes_of(pair.source));
        content.extend(bytes_of(pair.dest));
        content.extend([pair.ttl, 0, 0, 0]);
    }
    let mut out = Vec::new();
    let time_s = (report.told_ns / 1_000_000_000) as u32;
    report_framed::emit_unnumbered(SUB_KIND, time_s, &content, &mut out);
    out
}
