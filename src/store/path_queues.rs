//! What hosts tell apart from paths: waits in queues, and what is in the hosts at the ends; and the paths that these are a
//! part of.

use std::collections::HashMap;

use rusqlite::Connection;

use super::bounds::signed;
use super::path_ids::all_packets_of;
use super::path_sums::PathSums;
use super::period::RollUpTable;
use super::plan::Horizons;
use super::rows::places_of_one;
use crate::model::{
    ANSWER_PLACE, BUFFER_PLACE, NodeId, NodePort, Path, PathFigures, QUEUE_PLACE, Segment,
    SegmentFigures, SegmentKind, SegmentTimes, Span, WITHIN_PLACE,
};

/// What is known of a source's packets.
type ReportedParts = HashMap<Segment, SegmentFigures>;

/// Gives each path the queues behind its source and its hops, and what is in the hosts at its ends, as far as hosts told
/// them.
pub fn join(conn: &Connection, paths: &mut [PathFigures], span: Span) -> rusqlite::Result<()> {
    let mut known: HashMap<NodeId, ReportedParts> = HashMap::new();
    for path in paths {
        let source = path.path.source;
        let told = match known.get(&source.node) {
            Some(told) => told,
            None => {
                let found = find(conn, source.node, span)?;
                known.entry(source.node).or_insert(found)
            }
        };
        let passed = path.path.hops.iter().map(|hop| NodePort {
            node: hop.node,
            port: hop.egress_port,
        });
        let queues = std::iter::once(source).chain(passed).map(queue_of);
        path.queues = queues.filter_map(|at| told.get(&at).cloned()).collect();
        let begin = Path::to_queue(source.node, source);
        let behind = Path::to_application(source.node, path.path.sink);
        let ends = [
            begin.buffer(),
            begin.within(),
            behind.within(),
            behind.answer(),
        ];
        let ends = ends.into_iter().flatten();
        path.host_segments = ends.filter_map(|at| told.get(&at).cloned()).collect();
        path.set_shares();
    }
    Ok(())
}

fn queue_of(at: NodePort) -> Segment {
    Segment {
        kind: SegmentKind::Queue,
        from: at,
        to: at,
    }
}

/// The parts that packets of a source passed.
fn find(conn: &Connection, source: NodeId, span: Span) -> rusqlite::Result<ReportedParts> {
    let mut ask = conn.prepare_cached(
        "SELECT id, way FROM path WHERE flow = 0 AND source = ? AND first_ns < ? AND until_ns > ?",
    )?;
    let times = (signed(span.until_ns), signed(span.since_ns));
    let told: Vec<(i64, Vec<u8>)> = ask
        .query_map((source.0, times.0, times.1), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let periods = Horizons::read(conn, RollUpTable::Segment)?.of_one(span);
    let mut parts = ReportedParts::new();
    for (id, way) in told {
        let path = Path::from_bytes(&way).filter(|path| !path.is_passage());
        let Some(path) = path else { continue };
        let queue = path.queue().map(|at| (queue_of(at), QUEUE_PLACE));
        let within = path.within().map(|at| (at, WITHIN_PLACE));
        let buffer = path.buffer().map(|at| (at, BUFFER_PLACE));
        let answer = path.answer().map(|at| (at, ANSWER_PLACE));
        let told = [queue, within, buffer, answer];
        let mut told = told.into_iter().flatten().peekable();
        if told.peek().is_none() {
            continue;
        }
        let mut sums = PathSums::default();
        let row = (RollUpTable::Segment, all_packets_of(id));
        places_of_one(conn, row, &periods, |_, row| sums.merge(row))?;
        for (segment, place) in told {
            let waits = sums.of(place.into()).filter(|waits| waits.reports > 0);
            let Some(waits) = waits else { continue };
            let figures = SegmentFigures {
                segment,
                times: SegmentTimes::of_packets(0, &waits.latency, &waits.measured.corrected, true),
                share: None,
                unseen_hops: None,
                queue_depth: None,
            };
            parts.insert(segment, figures);
        }
    }
    Ok(parts)
}
