//! hostint's report of the packets that came by (NProto 15, sub-kind 6). It is about no single packet, and has no number:
//! later ones tell of the same blocks again.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_framed;
use super::report_header::HEADER_BYTES;
use super::summary_totals::MOST_SUMMARY_BYTES;
use crate::model::NodeId;
use crate::model::crossings::{
    CoveredFlows, CrossingCounts, CrossingFlow, CrossingPlace, CrossingReport, SteadyTtl,
};

const SUB_KIND: u8 = 6;
/// Bytes before and behind the places, the frame included.
const FIXED_BYTES: usize = HEADER_BYTES + 4 + 24 + COVERED_BYTES;
/// Bytes of the flows that are covered.
const COVERED_BYTES: usize = 16;
/// Bytes of a place without its counts, with its TTL.
const PLACE_BYTES: usize = 14;
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
    let mut counts = (0..places)
        .map(|_| decode_place(&mut cursor, blocks))
        .collect::<Result<Vec<_>, _>>()?;
    for one in &mut counts {
        one.ttl = decode_ttl(&mut cursor, first_block)?;
    }
    let [from, to] = [decode_flow(&mut cursor)?, decode_flow(&mut cursor)?];
    let covered = (from <= to).then_some(CoveredFlows { from, to });
    Ok(CrossingReport {
        node,
        told_ns,
        first_block,
        blocks,
        counts,
        covered,
    })
}

fn decode_flow(cursor: &mut Cursor<'_>) -> Result<CrossingFlow, DecodeError> {
    Ok(CrossingFlow {
        source: NodeId(cursor.u32("source node ID")?),
        dest: cursor.u32("destination of counts")?,
    })
}

/// The TTL, and the block from which on packets have it, as a distance from the first one.
fn decode_ttl(cursor: &mut Cursor<'_>, first_block: u64) -> Result<Option<SteadyTtl>, DecodeError> {
    let [ttl, later] = cursor.array("TTL of a place")?;
    Ok((ttl != 0).then(|| SteadyTtl {
        ttl,
        from_block: first_block.saturating_add(later.into()),
    }))
}

fn decode_place(cursor: &mut Cursor<'_>, blocks: u8) -> Result<CrossingCounts, DecodeError> {
    let flow = decode_flow(cursor)?;
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
        ttl: None,
    })
}

/// Splits a report into parts that fit into a datagram each. All counts of a flow are in one part: whoever knows some of
/// them knows all. What would fit into no part is left out.
pub fn parts(report: &CrossingReport) -> Vec<CrossingReport> {
    let place_bytes = PLACE_BYTES + 4 * usize::from(report.blocks);
    let most = (MOST_SUMMARY_BYTES - FIXED_BYTES) / place_bytes;
    let mut parts: Vec<CrossingReport> = Vec::new();
    let mut covered = report.covered;
    for flow in report.counts.chunk_by(|one, other| one.flow == other.flow) {
        if flow.len() > most {
            covered = None;
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
    cover(&mut parts, covered);
    parts
}

/// Each part covers the flows from its first to its last one, and the first and the last part those around, too.
fn cover(parts: &mut [CrossingReport], covered: Option<CoveredFlows>) {
    let first = |part: &CrossingReport| part.counts.first().map(|one| one.flow);
    let last = |part: &CrossingReport| part.counts.last().map(|one| one.flow);
    let count = parts.len();
    for (number, part) in parts.iter_mut().enumerate() {
        part.covered = covered.and_then(|all| {
            let from = if number == 0 { all.from } else { first(part)? };
            let to = if number + 1 == count {
                all.to
            } else {
                last(part)?
            };
            (from <= to).then_some(CoveredFlows { from, to })
        });
    }
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
        let reported = one.packets.iter().map(|count| count.unwrap_or(UNKNOWN));
        content.extend(reported.flat_map(u32::to_be_bytes));
    }
    for one in &report.counts {
        let later = |ttl: &SteadyTtl| ttl.from_block.saturating_sub(report.first_block);
        let known = one
            .ttl
            .and_then(|ttl| Some((ttl.ttl, u8::try_from(later(&ttl)).ok()?)));
        content.extend(known.map_or([0, 0], |(ttl, later)| [ttl, later]));
    }
    // No flow is covered if the first one is behind the last one.
    let covered = report.covered.map_or([(1, 0), (0, 0)], |all| {
        [all.from, all.to].map(|flow| (flow.source.0, flow.dest))
    });
    content.extend(
        covered
            .into_iter()
            .flat_map(|(source, dest)| [source, dest])
            .flat_map(u32::to_be_bytes),
    );
    let time_s = (report.told_ns / 1_000_000_000) as u32;
    report_framed::emit_unnumbered(SUB_KIND, time_s, &content, out);
}
