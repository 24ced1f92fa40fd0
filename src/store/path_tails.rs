//! The times of the newest single reports of paths, in which it is looked for where the slowest lost theirs.

use std::collections::HashMap;

use rusqlite::Connection;

use super::evidence::Decode;
use super::single_reports;
use crate::model::{Body, Path, PathQuery, PathSample, ReportQuery, SegmentTime, Span, Subject};

/// The most single reports that are looked at for where the slowest lost their time.
const TAIL_REPORTS: usize = 1000;

/// The times of single reports: the whole, and each segment.
pub type ReportTimes = Vec<(i64, Vec<Option<i64>>)>;

/// Returns the times of the newest single reports, by path.
pub fn tails(
    conn: &Connection,
    decode: &Decode,
    query: PathQuery,
    span: Span,
) -> rusqlite::Result<HashMap<Path, ReportTimes>> {
    let query = ReportQuery {
        subject: match query {
            PathQuery::Pair { source, sink } => Subject::Pair { source, sink },
            PathQuery::Flow(id) => Subject::Flow(id),
        },
        limit: TAIL_REPORTS,
    };
    let mut tails: HashMap<Path, ReportTimes> = HashMap::new();
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
        let stamped = |time: Option<_>| time.map(|time: SegmentTime| time.stamped_ns);
        let segments = sample.segments.into_iter().map(stamped).collect();
        let times = (sample.whole.stamped_ns, segments);
        tails.entry(sample.path).or_default().push(times);
    }
    Ok(tails)
}
