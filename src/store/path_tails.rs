//! The newest single reports of paths: their times, in which it is looked for where the slowest lost theirs, and the queues
//! that their packets met.

use std::collections::HashMap;

use rusqlite::Connection;

use super::evidence::Decode;
use super::single_reports;
use crate::model::{
    Body, HopQueue, HopQueueFigures, LatencyReport, Path, PathFigures, PathQuery, PathSample,
    ReportQuery, SegmentKind, SegmentTime, Span, Subject, tail_shares,
};

/// The most single reports that are looked at.
const TAIL_REPORTS: usize = 1000;

/// The single reports of a path.
#[derive(Debug, Default)]
pub struct PathTail {
    /// The whole, and each segment.
    times: Vec<(i64, Vec<Option<i64>>)>,
    /// What each hop said of its queue, in the order of the way.
    queues: Vec<Vec<HopQueue>>,
}

impl PathTail {
    fn add(&mut self, sample: PathSample, latency: &LatencyReport) {
        let stamped = |time: Option<_>| time.map(|time: SegmentTime| time.stamped_ns);
        let segments = sample.segments.into_iter().map(stamped).collect();
        self.times.push((sample.whole.stamped_ns, segments));
        let hops = latency.hops.transit();
        self.queues.resize_with(hops.len(), Vec::new);
        for (known, hop) in self.queues.iter_mut().zip(hops.iter().rev()) {
            known.extend(hop.queue);
        }
    }

    /// Says in a path's figures where the slowest of these reports lost their time, and which queues they met.
    pub fn put_into(self, figures: &mut PathFigures) {
        let kinds: Vec<SegmentKind> = (figures.segments.iter())
            .map(|one| one.segment.kind)
            .collect();
        figures.tail = tail_shares(&kinds, &self.times);
        let hops = figures.segments.iter_mut();
        let hops = hops.filter(|one| one.segment.kind == SegmentKind::Hop);
        for (hop, queues) in hops.zip(self.queues) {
            hop.queue_depth = HopQueueFigures::of(queues);
        }
    }
}

/// Returns the newest single reports, by path.
pub fn tails(
    conn: &Connection,
    decode: &Decode,
    query: PathQuery,
    span: Span,
) -> rusqlite::Result<HashMap<Path, PathTail>> {
    let query = ReportQuery {
        subject: match query {
            PathQuery::Pair { source, sink } => Subject::Pair { source, sink },
            PathQuery::Flow(id) => Subject::Flow(id),
        },
        limit: TAIL_REPORTS,
    };
    let mut tails: HashMap<Path, PathTail> = HashMap::new();
    for record in single_reports::find(conn, decode, &query, span)? {
        let Ok(report) = record.report() else {
            continue;
        };
        let Body::Latency(latency) = &report.observation.body else {
            continue;
        };
        let Some(sample) = PathSample::of(latency, None, |_, _, _| None) else {
            continue;
        };
        let tail = tails.entry(sample.path.path().clone()).or_default();
        tail.add(sample, latency);
    }
    Ok(tails)
}
