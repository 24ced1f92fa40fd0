//! Telemetry Report v2.0: a group of individual reports in one datagram.

use super::cursor::Cursor;
use super::metadata_items::{self, REPORT_V20, words_of};
use super::report::ReportGroup;
use super::{DecodeError, packet};
use crate::model::{
    Body, Extension, FirstHeader, Flags, HwId, Metadata, NodeId, Observation, Packet, PacketReport,
    Report, ReportDomain, ReportVersion,
};

/// Individual reports that one group may have: a datagram of the smallest ones would have 16000.
pub const MAX_REPORTS: usize = 1024;

/// Bits of a group's sequence number.
pub const SEQUENCE_BITS: u32 = 22;

/// RepType.
const INNER_ONLY: u8 = 0;
const INT: u8 = 1;

/// Fixed words behind the first one of a report of type INT.
const INT_WORDS: usize = 2;
/// A Report Length of this many words or more: to the datagram's end.
const TO_THE_END: u8 = 0xff;

/// The first word of an individual report.
#[derive(Clone, Copy)]
struct Head {
    report_type: u8,
    inner_type: u8,
    metadata_words: usize,
    flags: Flags,
}

/// Reads one datagram of version 2. Reserved bits are ignored.
///
/// An individual report that cannot be read is refused by itself; if its length cannot be right
/// either, with all behind it.
pub(super) fn decode(datagram: &[u8]) -> Result<ReportGroup, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    let word = cursor.u32("group header")?;
    let node = NodeId(cursor.u32("node ID")?);
    let mut group = ReportGroup {
        hw_id: HwId::new((word >> SEQUENCE_BITS & 0x3f) as u8).unwrap_or_default(),
        node: Some(node),
        sequence: word & ((1 << SEQUENCE_BITS) - 1),
        sequence_bits: SEQUENCE_BITS,
        reports: Vec::new(),
        refused: Vec::new(),
    };
    loop {
        if group.reports.len() + group.refused.len() == MAX_REPORTS {
            group
                .refused
                .push(DecodeError::TooMany { limit: MAX_REPORTS });
            return Ok(group);
        }
        let individual = match next(&mut cursor) {
            Ok((head, bytes)) => {
                let offset = cursor.offset() - bytes.len();
                let report = decode_individual(datagram, offset, cursor.offset(), head, node);
                report.map(|report| (head.flags, report))
            }
            Err(error) => {
                group.refused.push(error);
                return Ok(group);
            }
        };
        match individual {
            Ok((flags, report)) => group.reports.push(Report {
                sequence: group.sequence,
                observation: Observation {
                    hw_id: group.hw_id,
                    flags,
                    clock: None,
                    body: Body::Packet(Box::new(report)),
                },
            }),
            Err(error) => group.refused.push(error),
        }
        if cursor.rest().is_empty() {
            return Ok(group);
        }
    }
}

/// An individual report's first word, and the bytes behind it that are its own.
fn next<'a>(cursor: &mut Cursor<'a>) -> Result<(Head, &'a [u8]), DecodeError> {
    let [types, length, metadata_words, flags] = cursor.array("individual report header")?;
    let bytes = match length {
        TO_THE_END => cursor.rest().len(),
        words => 4 * usize::from(words),
    };
    let head = Head {
        report_type: types >> 4,
        inner_type: types & 0x0f,
        metadata_words: metadata_words.into(),
        flags: Flags {
            dropped: flags & 0x80 != 0,
            congested_queue: flags & 0x40 != 0,
            tracked_flow: flags & 0x20 != 0,
            intermediate: flags & 0x10 != 0,
        },
    };
    Ok((head, cursor.take("individual report", bytes)?))
}

/// Reads from `begin` to `end` of the datagram, so that offsets in errors count from its start.
fn decode_individual(
    datagram: &[u8],
    begin: usize,
    end: usize,
    head: Head,
    node: NodeId,
) -> Result<PacketReport, DecodeError> {
    let mut cursor = Cursor::behind(datagram.get(..end).unwrap_or_default(), begin);
    let mut report = PacketReport {
        version: ReportVersion::V20,
        node: Some(node),
        ..PacketReport::default()
    };
    match head.report_type {
        INNER_ONLY => {}
        INT => (report.metadata, report.domain) = decode_int(&mut cursor, head.metadata_words)?,
        found => {
            return Err(DecodeError::Kind {
                what: "report type (RepType)",
                found,
                expected: "0 (inner only) or 1 (INT)",
            });
        }
    }
    match head.inner_type {
        0 => {}
        1 => decode_tlvs(&mut cursor, &mut report)?,
        2 => report.extensions.push(Extension {
            kind: None,
            template: None,
            data: cursor.rest().to_vec(),
        }),
        3 => report.packet = Some(read(FirstHeader::Ethernet, cursor.rest())),
        4 => report.packet = Some(read(FirstHeader::Ipv4, cursor.rest())),
        5 => report.packet = Some(read(FirstHeader::Ipv6, cursor.rest())),
        found => {
            return Err(DecodeError::Kind {
                what: "inner type (InType)",
                found,
                expected: "0 to 5",
            });
        }
    }
    Ok(report)
}

fn read(first: FirstHeader, bytes: &[u8]) -> Packet {
    packet::read(first, bytes, true)
}

/// The main contents of type INT: what bits announce, then the domain's words.
fn decode_int(
    cursor: &mut Cursor<'_>,
    metadata_words: usize,
) -> Result<(Metadata, Option<ReportDomain>), DecodeError> {
    let bits = cursor.u16("metadata bits (RepMdBits)")?;
    let domain = ReportDomain {
        id: cursor.u16("domain-specific ID")?,
        bits: cursor.u16("domain-specific metadata bits")?,
        status: cursor.u16("domain-specific metadata status")?,
    };
    let baseline = words_of(&REPORT_V20, bits);
    let offset = cursor.offset() - 4 * INT_WORDS;
    let Some(domain_words) = metadata_words.checked_sub(baseline) else {
        return Err(DecodeError::Truncated {
            what: "metadata of its bits",
            offset,
            needed: 4 * baseline,
            available: 4 * metadata_words,
        });
    };
    let metadata = metadata_items::decode(cursor, &REPORT_V20, bits, domain_words, true)?;
    let told = domain.id != 0 || domain.bits != 0 || domain.status != 0;
    Ok((metadata, told.then_some(domain)))
}

/// The first packet among TLVs is the report's, everything else is kept as it is.
fn decode_tlvs(cursor: &mut Cursor<'_>, report: &mut PacketReport) -> Result<(), DecodeError> {
    while !cursor.rest().is_empty() {
        let [kind, words, high, low] = cursor.array("TLV header")?;
        let kind = kind >> 4;
        let data = cursor.take("TLV", 4 * usize::from(words))?;
        let first = match kind {
            1 => Some(FirstHeader::Ethernet),
            2 => Some(FirstHeader::Ipv4),
            3 => Some(FirstHeader::Ipv6),
            _ => None,
        };
        match first {
            Some(first) if report.packet.is_none() => report.packet = Some(read(first, data)),
            _ => report.extensions.push(Extension {
                kind: Some(kind),
                template: Some(u16::from_be_bytes([high, low])),
                data: data.to_vec(),
            }),
        }
    }
    Ok(())
}
