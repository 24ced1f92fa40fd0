//! The waits in the queues of transit hops, which hops tell apart from paths, and the paths that they are a part of.

use std::collections::HashMap;

use rusqlite::Connection;

use super::paths::{packets_of_place, signed};
use super::period::RollUpTable;
use super::plan::Horizons;
use super::rows::rows_of_one;
use super::sums::Sums;
use crate::model::{
    NodeId, NodePort, Path, PathFigures, QUEUE_PLACE, Segment, SegmentFigures, SegmentKind,
    SegmentTimes, Span,
};

/// Gives each path the queues behind its hops, as far as the hops told them.
pub fn join(conn: &Connection, paths: &mut [PathFigures], span: Span) -> rusqlite::Result<()> {
    let mut known: HashMap<NodeId, HashMap<NodePort, SegmentFigures>> = HashMap::new();
    for path in paths {
        let source = path.path.source.node;
        let queues = match known.get(&source) {
            Some(queues) => queues,
            None => {
                let found = find(conn, source, span)?;
                known.entry(source).or_insert(found)
            }
        };
        let passed = path.path.hops.iter().map(|hop| NodePort {
            node: hop.node,
            port: hop.egress_port,
        });
        path.queues = passed.filter_map(|at| queues.get(&at).cloned()).collect();
        path.set_shares();
    }
    Ok(())
}

/// The queues that packets of a source passed, by node and port.
fn find(
    conn: &Connection,
    source: NodeId,
    span: Span,
) -> rusqlite::Result<HashMap<NodePort, SegmentFigures>> {
    let mut ask = conn.prepare_cached(
        "SELECT id, way FROM path WHERE flow = 0 AND source = ? AND first_ns < ? AND until_ns > ?",
    )?;
    let times = (signed(span.until_ns), signed(span.since_ns));
    let told: Vec<(i64, Vec<u8>)> = ask
        .query_map((source.0, times.0, times.1), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let segments = Horizons::read(conn, RollUpTable::Segment)?.of_one(span);
    let mut queues = HashMap::new();
    for (id, way) in told {
        let path = Path::from_bytes(&way).filter(|path| !path.is_passage());
        let Some(at) = path.and_then(|path| path.queue()) else {
            continue;
        };
        let mut waits = Sums::default();
        let subject = packets_of_place(id, QUEUE_PLACE.into());
        rows_of_one(
            conn,
            (RollUpTable::Segment, subject),
            &segments,
            |_, row| waits.merge(row),
        )?;
        if waits.reports == 0 {
            continue;
        }
        let figures = SegmentFigures {
            segment: Segment {
                kind: SegmentKind::Queue,
                from: at,
                to: at,
            },
            times: SegmentTimes::of_packets(0, &waits.latency, &waits.measured.corrected, true),
            share: None,
        };
        queues.insert(at, figures);
    }
    Ok(queues)
}
