//! The segments of all paths, each with the sums of the paths that it is a part of.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;

use super::path_ids::{ALL_PACKETS, FIRST_QUEUE, PLACE_BITS};
use super::paths::StoredTimes;
use super::rows::sums_of_all_places;
use crate::model::{Path, Segment, SegmentFigures, SegmentKind, SegmentOrder, SegmentTimes, Span};

/// The segment at a place of a path, or the queue.
fn segment_at(path: &Path, place: i64) -> Option<Segment> {
    let at = |first| usize::try_from(place - first).ok();
    match at(FIRST_QUEUE) {
        Some(hop) => path.queue_behind(hop),
        None => path.segments().get(at(1)?).copied(),
    }
}

/// Returns the segments of all paths, largest first.
pub fn segments(
    conn: &Connection,
    order: SegmentOrder,
    span: Span,
    limit: usize,
) -> rusqlite::Result<Vec<SegmentFigures>> {
    let sums = sums_of_all_places(conn, span)?;
    let mut ask = conn.prepare_cached("SELECT id, way FROM path WHERE flow = 0")?;
    let known: HashMap<i64, Vec<u8>> = ask
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // The times of the segment, and of the paths that it is a part of.
    let mut by_segment: BTreeMap<Segment, (StoredTimes, StoredTimes)> = BTreeMap::new();
    for (subject, times) in &sums {
        let (id, place) = (subject >> PLACE_BITS, subject & (ALL_PACKETS - 1));
        let all = subject & ALL_PACKETS;
        let path = known.get(&id).and_then(|way| Path::from_bytes(way));
        let path = path.filter(|path| !path.is_passage());
        let segment = path.and_then(|path| segment_at(&path, place));
        let Some(segment) = segment else { continue };
        let (own, wholes) = by_segment.entry(segment).or_default();
        own.of(all).merge(times);
        if let Some(whole) = sums.get(&(id << PLACE_BITS | all)) {
            wholes.of(all).merge(whole);
        }
    }
    let mut rows: Vec<SegmentFigures> = by_segment
        .into_iter()
        .map(|(segment, (own, wholes))| {
            let times = own.figures(segment.kind);
            let of = |times: &SegmentTimes| {
                let latency = times.latency?;
                Some(latency.mean_ns as f64 * latency.samples as f64)
            };
            let whole = of(&wholes.figures(SegmentKind::Wire)).filter(|whole| *whole > 0.0);
            SegmentFigures {
                segment,
                times,
                share: of(&times)
                    .zip(whole)
                    .map(|(part, whole)| (part / whole).clamp(0.0, 1.0)),
                unseen_hops: None,
                queue_depth: None,
            }
        })
        .collect();
    rows.sort_by(|one, other| {
        let key = |row: &SegmentFigures| match order {
            SegmentOrder::P99 => {
                let p99_ns = row.times.latency.and_then(|latency| latency.p99_ns);
                p99_ns.map_or(-1.0, |ns| ns as f64)
            }
            SegmentOrder::Share => row.share.unwrap_or(-1.0),
            SegmentOrder::Lost => row.times.loss.map_or(-1.0, |loss| loss.lost as f64),
        };
        key(other).total_cmp(&key(one))
    });
    rows.truncate(limit);
    Ok(rows)
}
