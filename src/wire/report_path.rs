//! hostint's report of the times of all packets of a path: path-summary (NProto 8). It is about no single packet, and has
//! no number: it repeats totals.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_header::HEADER_BYTES;
use super::summary_totals::{MOST_SUMMARY_BYTES, decode_distribution, emit_distribution};
use crate::model::{
    LatencyResolution, MOST_TRANSIT_HOPS, Path, PathTotals, PathTotalsReport, PlaceTotals,
    SlotRange,
};

/// The first byte of the report: version 0 and NProto 8.
const PATH_SUMMARY: u8 = 8;
/// The layout of what follows the header.
const LAYOUT: u8 = 1;

/// Bytes of a path's ends, and of each of its hops.
const ENDS_BYTES: usize = 12;
const HOP_BYTES: usize = 8;

/// True for a datagram that announces such totals.
pub(super) fn is_one(datagram: &[u8]) -> bool {
    datagram.first() == Some(&PATH_SUMMARY)
}

/// Reads a whole datagram.
pub(super) fn decode(datagram: &[u8]) -> Result<PathTotalsReport, DecodeError> {
    let mut cursor = Cursor::new(datagram);
    cursor.array::<8>("report header")?;
    let time_s = cursor.u32("report timestamp")?;
    cursor.expect_u8("layout of a path-summary report", LAYOUT)?;
    let hops = cursor.u8("number of transit hops")?;
    let times = cursor.u16("number of segments")?;
    let period_ns = cursor.u64("period of summaries")?;
    let bytes = cursor.take("path", ENDS_BYTES + HOP_BYTES * usize::from(hops))?;
    let known = Path::from_bytes(bytes).filter(|_| hops <= MOST_TRANSIT_HOPS);
    let path = known.ok_or(DecodeError::Kind {
        what: "number of transit hops",
        found: hops,
        expected: "1 to 8",
    })?;
    let places = path.segment_count();
    // Each segment has some bytes, so the datagram bounds them.
    let times = (0..times)
        .map(|_| place(&mut cursor, places))
        .collect::<Result<_, _>>()?;
    if !cursor.rest().is_empty() {
        return Err(DecodeError::Length {
            what: "path-summary report",
            found: cursor.offset() + cursor.rest().len(),
            expected: "no bytes behind its segments",
        });
    }
    Ok(PathTotalsReport {
        time_s,
        period_ns,
        totals: PathTotals { path, times },
    })
}

fn place(cursor: &mut Cursor<'_>, places: usize) -> Result<PlaceTotals, DecodeError> {
    let place = cursor.u8("place of a segment")?;
    if usize::from(place) > places {
        return Err(DecodeError::Kind {
            what: "place of a segment",
            found: place,
            expected: "one of the path's",
        });
    }
    cursor.expect_u8("reserved byte of a segment", 0)?;
    let epoch_ns = cursor.u64("time that the totals begin")?;
    let last_ns = cursor.u64("time of the last packet")?;
    let offset = cursor.offset();
    let (latency, range) = decode_distribution(cursor)?;
    // A segment is reported whole.
    if range != SlotRange::ALL {
        return Err(DecodeError::Histogram { offset });
    }
    Ok(PlaceTotals {
        place,
        epoch_ns,
        last_ns,
        latency,
    })
}

/// Returns the datagrams of these totals. Times that would not fit into one are reported in powers of two.
pub fn emit(report: &PathTotalsReport) -> Vec<Vec<u8>> {
    let path = report.totals.path.to_bytes();
    let mut head = vec![PATH_SUMMARY, 0, 0, 0];
    head.extend(0u32.to_be_bytes());
    head.extend(report.time_s.to_be_bytes());
    head.extend([LAYOUT, report.totals.path.hops.len() as u8, 0, 0]);
    head.extend(report.period_ns.to_be_bytes());
    head.extend(path);
    let room = MOST_SUMMARY_BYTES.saturating_sub(head.len());
    let mut datagrams = Vec::new();
    let (mut content, mut count) = (Vec::new(), 0_u16);
    for time in &report.totals.times {
        let mut bytes = emit_place(time);
        if bytes.len() > room {
            bytes = emit_place(&PlaceTotals {
                latency: time.latency.clone().coarsened(LatencyResolution::Coarse),
                ..*time
            });
        }
        if content.len() + bytes.len() > room {
            datagrams.push(datagram(&head, count, &content));
            content.clear();
            count = 0;
        }
        content.append(&mut bytes);
        count += 1;
    }
    if count > 0 {
        datagrams.push(datagram(&head, count, &content));
    }
    datagrams
}

fn datagram(head: &[u8], count: u16, content: &[u8]) -> Vec<u8> {
    let mut out = [head, content].concat();
    if let Some(field) = out.get_mut(HEADER_BYTES + 2..HEADER_BYTES + 4) {
        field.copy_from_slice(&count.to_be_bytes());
    }
    out
}

fn emit_place(time: &PlaceTotals) -> Vec<u8> {
    let mut out = vec![time.place, 0];
    out.extend(time.epoch_ns.to_be_bytes());
    out.extend(time.last_ns.to_be_bytes());
    emit_distribution(&time.latency, SlotRange::ALL, &mut out);
    out
}
