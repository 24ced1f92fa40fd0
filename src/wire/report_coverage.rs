//! hostint's report of the coverage of a source or a sink (NProto 15, sub-kind 3). It is about no packet, and has no number: it repeats
//! totals.

use std::collections::BTreeMap;

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_header::HEADER_BYTES;
use super::summary_totals::MOST_SUMMARY_BYTES;
use super::{class_name, report_framed};
use crate::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use crate::model::{MOST_CLASS_BYTES, NodeId, Volume};

const SUB_KIND: u8 = 3;
/// The sink's node is known.
const HAS_SINK: u8 = 1;
/// The reporting node is the sink of the pair; its node is that of the source.
const BY_SINK: u8 = 2;
/// Bytes before the pairs, the frame included.
const FIXED_BYTES: usize = HEADER_BYTES + 4 + 4 + 2 + 2 + 8;
/// Bytes of a pair without class and counts, and of a count, with its bytes behind the pairs.
const PAIR_BYTES: usize = 8;
const COUNT_BYTES: usize = 17;

/// True for a datagram that announces coverage.
pub(super) fn is_one(datagram: &[u8]) -> bool {
    report_framed::announces(datagram, SUB_KIND)
}

/// Reads a whole datagram. What follows the bytes is left for later versions.
pub(super) fn decode(datagram: &[u8]) -> Result<CoverageReport, DecodeError> {
    let (_, mut cursor) = report_framed::open(datagram)?;
    let node = NodeId(cursor.u32("node ID")?);
    let period_s = cursor.u16("period of coverage")?;
    let pairs = cursor.u16("number of pairs")?;
    let epoch_ns = cursor.u64("time that the counts begin")?;
    // Each pair takes some room, so the datagram bounds them.
    let pairs = (0..pairs)
        .map(|_| pair(&mut cursor))
        .collect::<Result<Vec<_>, _>>()?;
    // Versions that count no bytes end here.
    let reports_bytes = !cursor.rest().is_empty();
    let missed = pairs.into_iter().map(|pair| {
        let mut by_reason = BTreeMap::new();
        for (reason, packets) in pair.counts {
            let bytes = match reports_bytes {
                true => Some(cursor.u64("bytes of a reason")?),
                false => None,
            };
            by_reason.insert(reason, Volume { packets, bytes });
        }
        Ok(MissedPackets {
            other: pair.other,
            class: pair.class,
            by_reason,
        })
    });
    Ok(CoverageReport {
        node,
        period_s,
        epoch_ns,
        missed: missed.collect::<Result<_, _>>()?,
    })
}

/// A pair and class, whose counts are in the order in which their bytes follow.
struct Pair {
    other: PairEnd,
    class: Option<String>,
    counts: Vec<(MissedReason, u64)>,
}

fn pair(cursor: &mut Cursor<'_>) -> Result<Pair, DecodeError> {
    let flags = cursor.u8("flags of a pair")?;
    let unknown = flags & !(HAS_SINK | BY_SINK);
    cursor.check("unknown flags of a pair", 1, unknown.into(), 0)?;
    let class_bytes = cursor.u8("length of the class")?;
    let counts = cursor.u8("number of reasons")?;
    cursor.expect_u8("reserved byte of a pair", 0)?;
    let node = NodeId(cursor.u32("node ID of a pair")?);
    let by_sink = flags & BY_SINK != 0;
    let class = class_name::take(cursor, class_bytes)?;
    let mut by_reason = Vec::new();
    for _ in 0..counts {
        let number = cursor.u8("reason")?;
        let reason = match by_sink {
            true => MissedReason::Sink(number),
            false => MissedReason::Source(number),
        };
        by_reason.push((reason, cursor.u64("packets of a reason")?));
    }
    Ok(Pair {
        other: match by_sink {
            true => PairEnd::FromSource(node),
            false => PairEnd::ToSink((flags & HAS_SINK != 0).then_some(node)),
        },
        class,
        counts: by_reason,
    })
}

/// Splits a report into parts that fit into a datagram each.
pub fn parts(report: &CoverageReport) -> Vec<CoverageReport> {
    let mut parts: Vec<CoverageReport> = Vec::new();
    let mut used = 0;
    for one in &report.missed {
        let bytes = PAIR_BYTES + class_of(one).len() + COUNT_BYTES * one.by_reason.len();
        match parts.last_mut() {
            Some(part) if used + bytes <= MOST_SUMMARY_BYTES => {
                part.missed.push(one.clone());
                used += bytes;
            }
            _ => {
                used = FIXED_BYTES + bytes;
                parts.push(CoverageReport {
                    missed: vec![one.clone()],
                    ..report.clone()
                });
            }
        }
    }
    parts
}

/// A class with a longer name is reported as none.
fn class_of(one: &MissedPackets) -> &str {
    let class = one.class.as_deref().unwrap_or_default();
    if class.len() > MOST_CLASS_BYTES {
        return "";
    }
    class
}

/// Appends the datagram of a part, which has the number 0 because it is none of the reports.
pub fn emit(report: &CoverageReport, time_s: u32, out: &mut Vec<u8>) {
    let mut content = Vec::new();
    content.extend(report.node.0.to_be_bytes());
    content.extend(report.period_s.to_be_bytes());
    // A part has fewer than a hundred pairs.
    content.extend((report.missed.len() as u16).to_be_bytes());
    content.extend(report.epoch_ns.to_be_bytes());
    for one in &report.missed {
        let class = class_of(one);
        let (flags, node) = match one.other {
            PairEnd::ToSink(Some(sink)) => (HAS_SINK, sink),
            PairEnd::ToSink(None) => (0, NodeId(0)),
            PairEnd::FromSource(source) => (BY_SINK, source),
        };
        content.extend([flags, class.len() as u8, one.by_reason.len() as u8, 0]);
        content.extend(node.0.to_be_bytes());
        content.extend(class.as_bytes());
        for (reason, volume) in &one.by_reason {
            content.push(reason.number());
            content.extend(volume.packets.to_be_bytes());
        }
    }
    let volumes = report.missed.iter().flat_map(|one| one.by_reason.values());
    let bytes: Option<Vec<u64>> = volumes.map(|volume| volume.bytes).collect();
    for bytes in bytes.into_iter().flatten() {
        content.extend(bytes.to_be_bytes());
    }
    report_framed::emit_unnumbered(SUB_KIND, time_s, &content, out);
}
