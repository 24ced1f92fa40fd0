//! Telemetry Report v1.0: one header, its optional words, and the packet.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::metadata_items::Item;
use super::packet;
use crate::model::{
    Body, FirstHeader, Flags, HwId, Metadata, NodeId, Observation, PacketReport, Quirk, Report,
    ReportVersion,
};

const VERSION: u8 = 1;
const FIXED_WORDS: u8 = 4;

/// The optional words, in the order of their bits in RepMdBits.
const ITEMS: [Item; 6] = [
    Item::Ports,
    Item::HopLatency,
    Item::Queue,
    Item::Egress32,
    Item::Drop,
    Item::TxUtilization,
];

/// Appends the datagram of a report about this packet to `out`, with sequence number 0, as far as v1.0 can express it.
pub fn emit(observation: &Observation, report: &PacketReport, out: &mut Vec<u8>) {
    let present = |(bit, item): (usize, &Item)| item.value(&report.metadata).map(|_| 0x20 >> bit);
    let bits: u8 = ITEMS.iter().enumerate().filter_map(present).sum();
    let packet = report.packet.as_ref();
    let next = match packet.map(|packet| packet.first) {
        None | Some(FirstHeader::Ethernet) => 0,
        Some(FirstHeader::Ipv4) => 1,
        Some(FirstHeader::Ipv6) => 2,
    };
    let flags = observation.flags;
    let [dropped, congested, tracked] =
        [flags.dropped, flags.congested_queue, flags.tracked_flow].map(u8::from);
    out.extend([
        VERSION << 4 | (FIXED_WORDS + bits.count_ones() as u8),
        next << 5 | bits >> 1,
        bits << 7 | dropped,
        congested << 7 | tracked << 6 | observation.hw_id.get(),
    ]);
    let timestamp = report.metadata.ingress_ts.unwrap_or_default() as u32;
    for word in [report.node.unwrap_or_default().0, 0, timestamp] {
        out.extend(word.to_be_bytes());
    }
    for (bit, item) in ITEMS.into_iter().enumerate() {
        if bits & (0x20 >> bit) != 0 {
            item.emit(&report.metadata, out);
        }
    }
    out.extend(packet.map_or(&[][..], |packet| &packet.bytes));
}

/// Sets the sequence number of an encoded datagram.
pub fn renumber(datagram: &mut [u8], sequence: u32) {
    if let Some(field) = datagram.get_mut(8..12) {
        field.copy_from_slice(&sequence.to_be_bytes());
    }
}

/// Reads one datagram of version 1. Reserved bits are ignored.
pub(super) fn decode(datagram: &[u8]) -> Result<Report, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    let [first, second, third, fourth] = cursor.array("report header")?;
    let node = NodeId(cursor.u32("node ID")?);
    let sequence = cursor.u32("report sequence number")?;
    let mut metadata = Metadata {
        ingress_ts: Some(cursor.u32("ingress timestamp")?.into()),
        ..Metadata::default()
    };
    let bits = second << 1 & 0x3e | third >> 7;
    let length = first & 0x0f;
    let expected = u32::from(FIXED_WORDS) + bits.count_ones();
    // Known of GEANT's generator of reports. With optional words, 1 could be their number or wrong.
    let one_word = (length, bits) == (1, 0);
    if u32::from(length) != expected && !one_word {
        return Err(DecodeError::Field {
            what: "report header length in words, by its metadata bits,",
            offset: 0,
            found: length.into(),
            expected,
        });
    }
    for (bit, item) in ITEMS.into_iter().enumerate() {
        if bits & (0x20 >> bit) != 0 {
            item.decode(&mut cursor, &mut metadata)?;
        }
    }
    let first_header = first_header(second >> 5)?;
    let rest = cursor.rest();
    Ok(Report {
        sequence,
        observation: Observation {
            hw_id: HwId::new(fourth & 0x3f).unwrap_or_default(),
            flags: Flags {
                dropped: third & 0x01 != 0,
                congested_queue: fourth & 0x80 != 0,
                tracked_flow: fourth & 0x40 != 0,
                intermediate: false,
            },
            clock: None,
            body: Body::Packet(Box::new(PacketReport {
                version: ReportVersion::V10,
                node: Some(node),
                metadata,
                packet: (!rest.is_empty()).then(|| packet::read(first_header, rest, true)),
                quirk: one_word.then_some(Quirk::ReportHeaderOneWord),
                ..PacketReport::default()
            })),
        },
    })
}

/// The kind of the packet behind the report header.
fn first_header(next: u8) -> Result<FirstHeader, DecodeError> {
    match next {
        0 => Ok(FirstHeader::Ethernet),
        1 => Ok(FirstHeader::Ipv4),
        2 => Ok(FirstHeader::Ipv6),
        found => Err(DecodeError::Kind {
            what: "next protocol (NProt)",
            found,
            expected: "0 (Ethernet), 1 (IPv4) or 2 (IPv6)",
        }),
    }
}
