//! The paths in the store: their rows in the roll-ups, and answers about them.

use rusqlite::Connection;

use super::bounds::signed;
use super::evidence::Decode;
use super::gathered_path::{GatheredPath, PathPackets};
use super::path_ids::{ALL_PACKETS, FIRST_QUEUE, PLACE_BITS, PathIds, all_packets_of};
use super::path_sums::PathSums;
use super::path_tails::tails;
use super::period::RollUpTable;
use super::plan::{Horizons, PeriodRange};
use super::rollups::RollUps;
use super::rows::places_of_one;
use super::sums::Sums;
use super::{path_losses, path_queues, unseen_hops};
use crate::model::{
    Path, PathFigures, PathQuery, SegmentFigures, SegmentKind, SegmentTimes, Span, set_lacking,
};

/// The most paths that are looked at for an answer, those that were seen last.
const MOST_ASKED: usize = 256;

/// The most paths in an answer, those with most reports.
const MOST_SHOWN: usize = 16;

/// The periods, about, in which it is told how many reports a path had.
const PERIODS: usize = 120;

/// Chooses the paths of all flows of a pair, by its nodes.
const OF_PAIR: &str = "flow = 0 AND source = ? AND sink = ?";

/// The flow of a path of all flows of a pair.
const ALL_FLOWS: i64 = 0;

/// The table of paths.
pub const TABLE: &str = "path (
     id INTEGER PRIMARY KEY,
     -- 0: all flows of the pair
     flow INTEGER NOT NULL,
     source INTEGER NOT NULL,
     sink INTEGER NOT NULL,
     way BLOB NOT NULL,
     first_ns INTEGER NOT NULL,
     -- the end of the last ten seconds with a report
     until_ns INTEGER NOT NULL,
     UNIQUE (flow, way)
 )";

/// Adds the times of a path to the roll-ups. `flow` is the id of its flow, if it is the path of one. Returns false if the
/// store has too many paths.
pub fn add(
    conn: &Connection,
    ids: &mut PathIds,
    rollups: &mut RollUps,
    flow: Option<i64>,
    gathered: &GatheredPath,
) -> rusqlite::Result<bool> {
    let begin_ns = gathered.begin_ns;
    let flow_id = flow.unwrap_or(ALL_FLOWS);
    let Some(id) = ids.id(conn, flow_id, &gathered.path, begin_ns)? else {
        return Ok(false);
    };
    let all = match gathered.packets {
        PathPackets::All => ALL_PACKETS,
        PathPackets::Reported | PathPackets::ReportedOf(_) => 0,
    };
    let places = (0..FIRST_QUEUE).zip(&gathered.times);
    let places = places.chain((FIRST_QUEUE..ALL_PACKETS).zip(&gathered.queues));
    let mut places = places.filter(|(_, times)| !times.is_nothing()).peekable();
    if places.peek().is_some() {
        let row = (table_of(flow_id), id << PLACE_BITS | all);
        rollups.change_path(conn, begin_ns, row, |sums| {
            for (place, times) in places.clone() {
                times.add_to(sums.at(place as u8));
            }
        })?;
    }
    unseen_hops::set(conn, id, &gathered.unseen)?;
    Ok(true)
}

fn table_of(flow: i64) -> RollUpTable {
    match flow {
        ALL_FLOWS => RollUpTable::Segment,
        _ => RollUpTable::FlowSegment,
    }
}

/// Forgets paths that were last seen before a time. Returns how many.
pub fn forget(conn: &Connection, before_ns: i64) -> rusqlite::Result<usize> {
    unseen_hops::forget(conn, before_ns)?;
    conn.execute("DELETE FROM path WHERE until_ns <= ?", [before_ns])
}

/// Returns the paths of a pair or a flow, those with most reports first.
pub fn find(
    conn: &Connection,
    decode: &Decode,
    query: PathQuery,
    span: Span,
) -> rusqlite::Result<Vec<PathFigures>> {
    let (filter, ends, table) = match query {
        PathQuery::Pair { source, sink } => {
            let ends = (source.0.into(), sink.0.into());
            (OF_PAIR, ends, RollUpTable::Segment)
        }
        PathQuery::Flow(flow) => ("flow = ? AND ?2 = ?2", (flow, 0), RollUpTable::FlowSegment),
    };
    let times = (signed(span.until_ns), signed(span.since_ns));
    let ways = ways(conn, filter, ends, times)?;
    let horizons = Horizons::read(conn, table)?;
    let (period_ns, periods) = horizons.of_series(span, PERIODS);
    let found = most_reported(conn, table, &ways, &horizons.of_one(span))?;
    let mut tails = tails(conn, decode, query, span)?;
    let mut paths = Vec::new();
    for one in found {
        let presence = presence(conn, (table, one.row()), &periods, period_ns)?;
        let tail = tails.remove(&one.path);
        let mut figures = PathFigures {
            of_flow: matches!(query, PathQuery::Flow(_)),
            ..one.figures(presence, period_ns)
        };
        if let Some(tail) = tail {
            tail.put_into(&mut figures);
        }
        paths.push(figures);
    }
    set_lacking(&mut paths);
    path_queues::join(conn, &mut paths, span)?;
    let of_pair = match (query, paths.first()) {
        (PathQuery::Pair { .. }, _) => ways,
        (PathQuery::Flow(_), Some(path)) => {
            let ends = [path.path.source.node, path.path.sink.node].map(|node| i64::from(node.0));
            self::ways(conn, OF_PAIR, ends.into(), times)?
        }
        (PathQuery::Flow(_), None) => Vec::new(),
    };
    unseen_hops::join(conn, &mut paths, &of_pair)?;
    path_losses::join(conn, &mut paths, &of_pair, span)?;
    Ok(paths)
}

/// A path that had reports.
struct PathWithReports {
    id: i64,
    path: Path,
    whole: SegmentTimes,
    times: StoredPathTimes,
}

impl PathWithReports {
    /// The row that tells when there were packets, which is also the one that the figures are of.
    fn row(&self) -> i64 {
        let all = if self.whole.packets.is_some() {
            ALL_PACKETS
        } else {
            0
        };
        self.id << PLACE_BITS | all
    }

    /// The figures that the path's own rows tell.
    fn figures(self, presence: Vec<(u64, u64)>, period_ns: u64) -> PathFigures {
        let mut segments = Vec::new();
        for (place, segment) in (1..).zip(self.path.segments()) {
            segments.push(SegmentFigures {
                segment,
                times: self.times.at(place).figures(segment.kind),
                share: None,
                unseen_hops: None,
                queue_depth: None,
            });
        }
        PathFigures {
            lacking: Vec::new(),
            of_flow: false,
            first_ns: presence.first().map_or(0, |first| first.0),
            until_ns: presence.last().map_or(0, |last| last.0 + period_ns),
            period_ns,
            whole: self.whole,
            unknown_mean_ns: None,
            segments,
            queues: Vec::new(),
            host_segments: Vec::new(),
            presence,
            tail: None,
            path: self.path,
        }
    }
}

/// The paths with most reports, those with most first.
fn most_reported(
    conn: &Connection,
    table: RollUpTable,
    ways: &[(i64, Path)],
    segments: &[PeriodRange],
) -> rusqlite::Result<Vec<PathWithReports>> {
    let mut found = Vec::new();
    for (id, path) in ways.iter().cloned() {
        let mut times = StoredPathTimes::default();
        let row = (table, id << PLACE_BITS);
        places_of_one(conn, row, segments, |_, row| times.reports.merge(row))?;
        let row = (table, all_packets_of(id));
        places_of_one(conn, row, segments, |_, row| times.all.merge(row))?;
        let whole = times.at(0).figures(SegmentKind::Wire);
        if whole.samples() > 0 {
            found.push(PathWithReports {
                id,
                path,
                whole,
                times,
            });
        }
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.whole.samples()));
    found.truncate(MOST_SHOWN);
    Ok(found)
}

/// When a path had packets, by period, and how many.
fn presence(
    conn: &Connection,
    subject: (RollUpTable, i64),
    periods: &[PeriodRange],
    period_ns: u64,
) -> rusqlite::Result<Vec<(u64, u64)>> {
    let mut presence: Vec<(u64, u64)> = Vec::new();
    places_of_one(conn, subject, periods, |begin_ns, sums| {
        let Some(sums) = sums.of(0).filter(|sums| sums.reports > 0) else {
            return;
        };
        let begin_ns = begin_ns - begin_ns % period_ns;
        match presence.last_mut().filter(|last| last.0 == begin_ns) {
            Some((_, reports)) => *reports += sums.reports,
            None => presence.push((begin_ns, sums.reports)),
        }
    })?;
    Ok(presence)
}

/// The paths that the filter chooses by two numbers, those that were seen last first.
fn ways(
    conn: &Connection,
    filter: &str,
    (one, other): (i64, i64),
    (until, since): (i64, i64),
) -> rusqlite::Result<Vec<(i64, Path)>> {
    let mut ask = conn.prepare_cached(&format!(
        "SELECT id, way FROM path WHERE {filter} AND first_ns < ? AND until_ns > ?
         ORDER BY until_ns DESC LIMIT {MOST_ASKED}"
    ))?;
    let known: Vec<(i64, Vec<u8>)> = ask
        .query_map((one, other, until, since), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let named = known.into_iter();
    Ok(named
        .filter_map(|(id, way)| Some((id, Path::from_bytes(&way)?)))
        .filter(|(_, path)| !path.is_passage() && !path.is_part())
        .collect())
}

/// The sums of all places of a path: of reports, and of all packets.
#[derive(Debug, Default)]
struct StoredPathTimes {
    reports: PathSums,
    all: PathSums,
}

impl StoredPathTimes {
    fn at(&self, place: i64) -> StoredTimes {
        let of = |sums: &PathSums| sums.of(place).cloned().unwrap_or_default();
        StoredTimes {
            reports: of(&self.reports),
            all: of(&self.all),
        }
    }
}

/// The rows of a segment: of reports, and of all packets, of which there are as many as the row has reports.
#[derive(Debug, Default)]
pub(super) struct StoredTimes {
    reports: Sums,
    all: Sums,
}

impl StoredTimes {
    /// The row of all packets, or that of reports.
    pub(super) fn of(&mut self, all: i64) -> &mut Sums {
        match all {
            0 => &mut self.reports,
            _ => &mut self.all,
        }
    }

    pub(super) fn figures(&self, kind: SegmentKind) -> SegmentTimes {
        let one_clock = kind.has_one_clock();
        let Self { reports, all } = self;
        let times = if all.reports > 0 {
            let clocks = &all.measured.corrected;
            SegmentTimes::of_packets(reports.reports, &all.latency, clocks, one_clock)
        } else {
            SegmentTimes::of_reports(&reports.latency, &reports.measured.corrected, one_clock)
        };
        SegmentTimes {
            loss: path_losses::of(all),
            ..times
        }
    }
}
