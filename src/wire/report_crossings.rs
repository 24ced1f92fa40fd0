//! hostint's report of the packets that came by (NProto 15, sub-kind 6). It is about no single packet, and has no number:
//! later ones tell of the same blocks again.

use super::cursor::Cursor;
use super::report_v05::HEADER_BYTES;
use super::summary_totals::MOST_SUMMARY_BYTES;
use super::{DecodeError, report_framed};
use crate::model::NodeId;
use crate::model::crossings::{CrossingCounts, CrossingFlow, CrossingPlace, CrossingReport};

const SUB_KIND: u8 = 6;
/// Bytes before the counts, the frame included.
const FIXED_BYTES: usize = HEADER_BYTES + 4 + 24;
/// Bytes of a place without its counts.
const PLACE_BYTES: usize = 12;
/// The count of a block that was not counted whole.
const UNKNOWN: u32 = u32::MAX;

/// True for a datagram that announces such counts.
pub(super) fn is_one(datagram: &[u8]) -> bool {
    report_framed::announces(datagram, SUB_KIND)
}

/// Reads a whole datagram. What follows the counts is left for later versions.
pub(super) fn decode(datagram: &[u8]) -> Result<CrossingReport, DecodeError> {
    let (_, mut cursor) = report_framed::open(datagram)?;
    let node = NodeId(cursor.u32("node ID")?);
    let told_ns = cursor.u64("time of the report")?;
    let first_block = cursor.u64("number of the first block")?;
    let blocks = cursor.u8("number of blocks")?;
    cursor.expect_u8("reserved byte of counts", 0)?;
    let places = cursor.u16("number of places")?;
    // Each place has some bytes, so the datagram bounds them.
    let counts = (0..places)
        .map(|_| decode_place(&mut cursor, blocks))
        .collect::<Result<_, _>>()?;
    Ok(CrossingReport {
        node,
        told_ns,
        first_block,
        blocks,
        counts,
    })
}

fn decode_place(cursor: &mut Cursor<'_>, blocks: u8) -> Result<CrossingCounts, DecodeError> {
    let flow = CrossingFlow {
        source: NodeId(cursor.u32("source node ID")?),
        dest: cursor.u32("destination of counts")?,
    };
    let number = cursor.u8("place of counts")?;
    let place = CrossingPlace::of_number(number).ok_or(DecodeError::Kind {
        what: "place of counts",
        found: number,
        expected: "1 to 5",
    })?;
    cursor.expect_u8("reserved byte of a place", 0)?;
    let port = cursor.u16("port of counts")?;
    let packets = (0..blocks)
        .map(|_| Ok(Some(cursor.u32("packets of a block")?).filter(|count| *count != UNKNOWN)))
        .collect::<Result<_, _>>()?;
    Ok(CrossingCounts {
        flow,
        place,
        port,
        packets,
    })
}

/// Splits a report into parts that fit into a datagram each. All counts of a flow are in one part: whoever knows some of
/// them knows all. What would fit into no part is left out.
pub fn parts(report: &CrossingReport) -> Vec<CrossingReport> {
    let place_bytes = PLACE_BYTES + 4 * usize::from(report.blocks);
    let most = (MOST_SUMMARY_BYTES - FIXED_BYTES) / place_bytes;
    let mut parts: Vec<CrossingReport> = Vec::new();
    for flow in report.counts.chunk_by(|one, other| one.flow == other.flow) {
        if flow.len() > most {
            continue;
        }
        match parts.last_mut() {
            Some(part) if part.counts.len() + flow.len() <= most => {
                part.counts.extend_from_slice(flow);
            }
            _ => parts.push(CrossingReport {
                counts: flow.to_vec(),
                ..report.clone()
            }),
        }
    }
    parts
}

/// Appends the datagram of a part.
pub fn emit(report: &CrossingReport, out: &mut Vec<u8>) {
    let mut content = Vec::new();
    content.extend(report.node.0.to_be_bytes());
    content.extend(report.told_ns.to_be_bytes());
    content.extend(report.first_block.to_be_bytes());
    content.extend([report.blocks, 0]);
    // A part has fewer than a hundred places.
    content.extend((report.counts.len() as u16).to_be_bytes());
    for one in &report.counts {
        content.extend(one.flow.source.0.to_be_bytes());
        content.extend(one.flow.dest.to_be_bytes());
        content.extend([one.place.number(), 0]);
        content.extend(one.port.to_be_bytes());
        let told = one.packets.iter().map(|count| count.unwrap_or(UNKNOWN));
        content.extend(told.flat_map(u32::to_be_bytes));
    }
    let time_s = (report.told_ns / 1_000_000_000) as u32;
    report_framed::emit_unnumbered(SUB_KIND, time_s, &content, out);
}
