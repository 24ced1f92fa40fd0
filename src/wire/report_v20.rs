//! Telemetry Report v2.0: a group of individual reports in one datagram.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::metadata_items::{self, REPORT_V20, bits_of, words_of};
use super::report_content::ReportGroup;
pub use super::report_v20_parts::{GROUP_BYTES, MAX_REPORTS, SEQUENCE_BITS};
use super::report_v20_parts::{INNER_ONLY, INT, INT_WORDS, ReportPart, TO_THE_END, parts};
use super::{packet, report_standard};
use crate::model::{
    Body, ClockState, Extension, FirstHeader, Flags, HwId, Metadata, NodeId, Observation, Packet,
    PacketReport, Report, ReportDomain, ReportVersion,
};

const VERSION: u32 = 2;

/// Reads one datagram of version 2. Reserved bits are ignored.
///
/// An individual report that cannot be read is refused alone, or together with everything after it if its length cannot
/// be right either. Zeros at the end are padding.
pub(super) fn decode(datagram: &[u8]) -> Result<ReportGroup, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    let word = cursor.u32("group header")?;
    let node = NodeId(cursor.u32("node ID")?);
    let mut group = ReportGroup {
        hw_id: HwId::new((word >> SEQUENCE_BITS & 0x3f) as u8).unwrap_or_default(),
        node: Some(node),
        version: ReportVersion::V20,
        sequence: word & ((1 << SEQUENCE_BITS) - 1),
        reports: Vec::new(),
        refused: Vec::new(),
        notice: None,
        unread_int: Vec::new(),
    };
    let (parts, stopped) = parts(datagram);
    for part in parts {
        match decode_individual(datagram, &part, node) {
            Ok(report) => {
                let (clock, body) = meant(report);
                group.reports.push(Report {
                    sequence: group.sequence,
                    observation: Observation {
                        hw_id: group.hw_id,
                        flags: part.head.flags,
                        clock,
                        body,
                    },
                });
            }
            Err(error) => group.refused.push(error),
        }
    }
    group.refused.extend(stopped);
    Ok(group)
}

/// Appends the header of a group, with sequence number 0.
pub fn begin(hw_id: HwId, node: NodeId, out: &mut Vec<u8>) {
    let word = VERSION << 28 | u32::from(hw_id.get()) << SEQUENCE_BITS;
    out.extend(word.to_be_bytes());
    out.extend(node.0.to_be_bytes());
}

/// Sets the sequence number of an encoded group, modulo 2^22.
pub fn renumber(datagram: &mut [u8], sequence: u32) {
    if let Some(field) = datagram.first_chunk_mut() {
        let word = u32::from_be_bytes(*field) >> SEQUENCE_BITS << SEQUENCE_BITS;
        let number = sequence & ((1 << SEQUENCE_BITS) - 1);
        *field = (word | number).to_be_bytes();
    }
}

/// Bytes of the individual report at the beginning of `bytes`.
pub fn size_of_first(bytes: &[u8]) -> Option<usize> {
    Some(4 + 4 * usize::from(*bytes.get(1)?))
}

/// Appends an individual report, without extensions. Appends nothing and returns `None` if its length fields are too
/// small for it.
///
/// A packet whose length is not a whole number of words is padded with zeros.
pub fn append(flags: Flags, report: &PacketReport, out: &mut Vec<u8>) -> Option<()> {
    let bits = bits_of(&REPORT_V20, &report.metadata);
    let domain_words = report.metadata.domain_words.len();
    let metadata_words = words_of(&REPORT_V20, bits) + domain_words;
    let packet = report.packet.as_ref();
    let (inner_type, packet) = packet.map_or((0, &[][..]), |packet| match packet.first {
        FirstHeader::Ethernet => (3, &packet.bytes[..]),
        FirstHeader::Ipv4 => (4, &packet.bytes[..]),
        FirstHeader::Ipv6 => (5, &packet.bytes[..]),
    });
    let plain = metadata_words == 0 && report.domain.is_none();
    let main_words = if plain { 0 } else { INT_WORDS + metadata_words };
    let words = u8::try_from(main_words + packet.len().div_ceil(4)).ok();
    let words = words.filter(|words| *words != TO_THE_END)?;
    let report_type = if plain { INNER_ONLY } else { INT };
    let metadata_words = u8::try_from(metadata_words).ok()?;
    out.extend([report_type << 4 | inner_type, words, metadata_words]);
    out.push(flag_bits(flags));
    if !plain {
        let domain = report.domain.unwrap_or(ReportDomain {
            id: 0,
            bits: 0,
            status: 0,
        });
        for field in [bits, domain.id, domain.bits, domain.status] {
            out.extend(field.to_be_bytes());
        }
        metadata_items::emit(&REPORT_V20, bits, &report.metadata, out);
        for word in &report.metadata.domain_words {
            out.extend(word.to_be_bytes());
        }
    }
    out.extend(packet);
    out.resize(
        out.len() + packet.len().next_multiple_of(4) - packet.len(),
        0,
    );
    Some(())
}

fn flag_bits(flags: Flags) -> u8 {
    let all = [
        (flags.dropped, 0x80),
        (flags.congested_queue, 0x40),
        (flags.tracked_flow, 0x20),
        (flags.intermediate, 0x10),
    ];
    all.into_iter()
        .filter(|(set, _)| *set)
        .map(|(_, bit)| bit)
        .sum()
}

/// The content of an individual report: an observation of hostint's own, or a packet.
fn meant(report: PacketReport) -> (Option<ClockState>, Body) {
    report_standard::observed(&report).unwrap_or_else(|| (None, Body::Packet(Box::new(report))))
}

/// Reads a part of the datagram, so that offsets in errors count from the datagram's start.
fn decode_individual(
    datagram: &[u8],
    part: &ReportPart,
    node: NodeId,
) -> Result<PacketReport, DecodeError> {
    let head = part.head;
    let mut cursor = Cursor::behind(datagram.get(..part.end).unwrap_or_default(), part.begin);
    let mut report = PacketReport {
        version: ReportVersion::V20,
        node: Some(node),
        quirk: part.quirk,
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

/// The main contents of type INT: the items of the bits, then the domain's words.
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
    let present = domain.id != 0 || domain.bits != 0 || domain.status != 0;
    Ok((metadata, present.then_some(domain)))
}

/// The first packet among the TLVs is the report's; everything else is kept unchanged.
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
