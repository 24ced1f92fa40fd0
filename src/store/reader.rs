//! The reader: it answers questions about the history of a live or a stopped store, of this process or another.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::connection_answers;
use super::connection_hops;
use super::coverage;
use super::drop_answers;
use super::evidence::Decode;
use super::extent;
use super::file::{self, FileId};
use super::flows;
use super::hosts;
use super::measured_shares::MeasuredShares;
use super::named_answers;
use super::period::RollUpTable;
use super::plan::Horizons;
use super::queues;
use super::rows::{class_names, last_report_ns, place_of, rows_of_one, sums_of_all};
use super::single_reports;
use super::store_error::StoreError;
use super::sums::Sums;
use super::verdicts;
use super::{events, path_segments, paths};
use crate::model::coverage::CoverageRow;
use crate::model::{
    ClassFigures, ConnectionFigures, ConnectionQuery, ConnectionSeries, DropFigures, DropQuery,
    DropSeries, EpisodeQuery, Extent, FlowFigures, FlowQuery, ForwardedFlow, History, HistoryError,
    HostSeen, LimitSeries, LossByHost, NetworkEvent, NetworkVerdict, NodeId, PairFigures,
    PassageFigures, PassageQuery, PastVerdict, PathFigures, PathQuery, PodsOf, Point, Record,
    ReportQuery, ReportedEpisode, SegmentFigures, SegmentOrder, Series, Span, Subject, TcpGrouping,
    TcpHops, TcpSums,
};

/// A store that is open for reading.
pub struct HistoryReader {
    conn: Connection,
    id: Option<FileId>,
    path: PathBuf,
    decode: Decode,
}

impl HistoryReader {
    pub fn open(path: &Path, decode: Decode) -> Result<Self, StoreError> {
        let id = FileId::of(path);
        let conn = file::open_to_read(path)?;
        Ok(Self {
            id,
            conn,
            path: path.to_owned(),
            decode,
        })
    }

    /// Answers a question from one state of the store, even if it is written to meanwhile.
    pub(super) fn ask<T>(
        &mut self,
        question: impl FnOnce(&Connection, &Decode) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        self.follow()?;
        let answer = || {
            let state = self.conn.unchecked_transaction()?;
            let answer = question(&state, &self.decode)?;
            state.commit()?;
            Ok(answer)
        };
        answer().map_err(|err: rusqlite::Error| {
            HistoryError(format!("cannot read store {}: {err}", self.path.display()))
        })
    }
}

impl HistoryReader {
    /// Opens the store again if another file has taken its place.
    fn follow(&mut self) -> Result<(), HistoryError> {
        let id = FileId::of(&self.path);
        let failed = |err: StoreError| HistoryError(err.to_string());
        if id != self.id {
            self.conn = file::open_to_read(&self.path).map_err(failed)?;
            self.id = id;
        }
        Ok(())
    }
}

fn pairs(conn: &Connection, span: Span) -> rusqlite::Result<Vec<PairFigures>> {
    let sums = sums_of_all(conn, RollUpTable::Pair, span)?;
    let mut flows = conn.prepare_cached(
        "SELECT pair, count(*) FROM flow WHERE first_ns < ? AND until_ns > ? GROUP BY pair",
    )?;
    let at = |time_ns: u64| time_ns.min(i64::MAX as u64) as i64;
    let flows: HashMap<i64, u64> = flows
        .query_map((at(span.until_ns), at(span.since_ns)), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)? as u64))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut all = conn.prepare_cached("SELECT id, source, sink FROM pair ORDER BY source, sink")?;
    let shares = MeasuredShares::read(conn, span)?;
    let mut rows = all.query([])?;
    let mut pairs = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if let Some(sums) = sums.get(&id) {
            let (source, sink) = (NodeId(row.get(1)?), NodeId(row.get(2)?));
            pairs.push(PairFigures {
                source,
                sink,
                flows: flows.get(&id).copied().unwrap_or(0),
                last_ns: last_report_ns(conn, sums, span)?,
                loss_split: None,
                loss_of_all: shares.of_pair((source, sink), &sums.measured),
                figures: sums.figures(),
            });
        }
    }
    Ok(pairs)
}

fn pair(
    conn: &Connection,
    (source, sink): (NodeId, NodeId),
    span: Span,
) -> rusqlite::Result<Option<PairFigures>> {
    let Some((table, id)) = place_of(conn, &Subject::Pair { source, sink })? else {
        return Ok(None);
    };
    let mut sums = Sums::default();
    let segments = Horizons::read(conn, table)?.of_one(span);
    rows_of_one(conn, (table, id), &segments, |_, row| sums.merge(row))?;
    if sums.reports == 0 {
        return Ok(None);
    }
    let at = |time_ns: u64| time_ns.min(i64::MAX as u64) as i64;
    let flows: i64 = conn.query_row(
        "SELECT count(*) FROM flow WHERE pair = ? AND first_ns < ? AND until_ns > ?",
        (id, at(span.until_ns), at(span.since_ns)),
        |row| row.get(0),
    )?;
    let shares = MeasuredShares::read(conn, span)?;
    Ok(Some(PairFigures {
        source,
        sink,
        flows: flows as u64,
        last_ns: last_report_ns(conn, &sums, span)?,
        loss_split: None,
        loss_of_all: shares.of_pair((source, sink), &sums.measured),
        figures: sums.figures(),
    }))
}

fn classes(conn: &Connection, span: Span) -> rusqlite::Result<Vec<ClassFigures>> {
    let sums = sums_of_all(conn, RollUpTable::Class, span)?;
    let shares = MeasuredShares::read(conn, span)?;
    let mut classes: Vec<ClassFigures> = class_names(conn)?
        .into_iter()
        .filter_map(|(id, class)| {
            let sums = sums.get(&id)?;
            Some(ClassFigures {
                loss_of_all: shares.of_class(&class, &sums.measured),
                class,
                figures: sums.figures(),
            })
        })
        .collect();
    classes.sort_by(|one, other| one.class.cmp(&other.class));
    Ok(classes)
}

fn series(
    conn: &Connection,
    subject: &Subject,
    span: Span,
    points: usize,
) -> rusqlite::Result<Series> {
    // A subject that the store does not know has no points, but the same distance between them.
    let (table, subject) = place_of(conn, subject)?.unwrap_or((RollUpTable::Class, -1));
    let (period_ns, segments) = Horizons::read(conn, table)?.of_series(span, points);
    let mut sums: Vec<(u64, Sums)> = Vec::new();
    if subject >= 0 {
        rows_of_one(conn, (table, subject), &segments, |begin, row| {
            let begin = begin - begin % period_ns;
            match sums.last_mut().filter(|last| last.0 == begin) {
                Some((_, sums)) => sums.merge(row),
                None => sums.push((begin, row.clone())),
            }
        })?;
    }
    let points = sums
        .iter()
        .map(|(begin_ns, sums)| Point {
            begin_ns: *begin_ns,
            figures: sums.figures(),
        })
        .collect();
    Ok(Series { period_ns, points })
}

impl History for HistoryReader {
    fn extent(&mut self) -> Result<Extent, HistoryError> {
        self.ask(|conn, _| extent::read(conn))
    }

    fn hosts(&mut self) -> Result<Vec<HostSeen>, HistoryError> {
        self.ask(|conn, _| hosts::read(conn))
    }

    fn pairs(&mut self, span: Span) -> Result<Vec<PairFigures>, HistoryError> {
        self.ask(|conn, _| {
            let mut found = pairs(conn, span)?;
            drop_answers::split_pairs(conn, &mut found, span)?;
            Ok(found)
        })
    }

    fn pair(
        &mut self,
        source: NodeId,
        sink: NodeId,
        span: Span,
    ) -> Result<Option<PairFigures>, HistoryError> {
        self.ask(|conn, _| {
            let mut found = pair(conn, (source, sink), span)?;
            drop_answers::split_pairs(conn, found.as_mut_slice(), span)?;
            Ok(found)
        })
    }

    fn flows(&mut self, query: &FlowQuery, span: Span) -> Result<Vec<FlowFigures>, HistoryError> {
        self.ask(|conn, _| named_answers::flows(conn, query, span))
    }

    fn flow(&mut self, id: i64, span: Span) -> Result<Option<FlowFigures>, HistoryError> {
        self.ask(|conn, _| {
            let mut found = named_answers::flow(conn, id, span)?;
            if let Some(flow) = &mut found {
                drop_answers::split_flow(conn, flow, span)?;
            }
            Ok(found)
        })
    }

    fn classes(&mut self, span: Span) -> Result<Vec<ClassFigures>, HistoryError> {
        self.ask(|conn, _| classes(conn, span))
    }

    fn classes_by(&mut self, by: PodsOf, span: Span) -> Result<Vec<ClassFigures>, HistoryError> {
        self.ask(|conn, _| named_answers::classes(conn, by, span))
    }

    fn coverage(&mut self, span: Span) -> Result<Vec<CoverageRow>, HistoryError> {
        self.ask(|conn, _| coverage::read(conn, span))
    }

    fn verdict(&mut self, span: Span) -> Result<Option<NetworkVerdict>, HistoryError> {
        self.ask(|conn, _| verdicts::last(conn, span))
    }

    fn events(&mut self, span: Span) -> Result<Vec<NetworkEvent>, HistoryError> {
        self.ask(|conn, _| events::read(conn, span))
    }

    fn past_verdicts(&mut self, span: Span) -> Result<Vec<PastVerdict>, HistoryError> {
        self.ask(|conn, _| verdicts::past(conn, span))
    }

    fn series(
        &mut self,
        subject: &Subject,
        span: Span,
        points: usize,
    ) -> Result<Series, HistoryError> {
        self.ask(|conn, _| series(conn, subject, span, points))
    }

    fn reports(&mut self, query: &ReportQuery, span: Span) -> Result<Vec<Record>, HistoryError> {
        self.ask(|conn, decode| single_reports::find(conn, decode, query, span))
    }

    fn paths(&mut self, query: PathQuery, span: Span) -> Result<Vec<PathFigures>, HistoryError> {
        self.ask(|conn, decode| paths::find(conn, decode, query, span))
    }

    fn loss(&mut self, query: PathQuery, span: Span) -> Result<Option<LossByHost>, HistoryError> {
        self.ask(|conn, _| match query {
            PathQuery::Pair { source, sink } => {
                let nodes = (source, sink);
                let lost = pair(conn, nodes, span)?.map_or(0, |pair| pair.figures.shown().lost);
                drop_answers::loss_of_pair(conn, nodes, lost, span)
            }
            PathQuery::Flow(id) => match flows::one(conn, id, span)? {
                Some(flow) => drop_answers::loss_of_flow(conn, &flow, span),
                None => Ok(None),
            },
        })
    }

    fn segments(
        &mut self,
        order: SegmentOrder,
        span: Span,
        limit: usize,
    ) -> Result<Vec<SegmentFigures>, HistoryError> {
        self.ask(|conn, _| path_segments::segments(conn, order, span, limit))
    }

    fn drops(&mut self, query: &DropQuery, span: Span) -> Result<Vec<DropFigures>, HistoryError> {
        self.ask(|conn, _| named_answers::drops(conn, query, span))
    }

    fn drop_series(&mut self, span: Span, points: usize) -> Result<DropSeries, HistoryError> {
        self.ask(|conn, _| drop_answers::series(conn, span, points))
    }

    fn hops(
        &mut self,
        query: &PassageQuery,
        span: Span,
    ) -> Result<Vec<ForwardedFlow>, HistoryError> {
        self.ask(|conn, _| named_answers::hops(conn, query, span))
    }

    fn passages(
        &mut self,
        query: &PassageQuery,
        span: Span,
    ) -> Result<Vec<PassageFigures>, HistoryError> {
        self.ask(|conn, _| named_answers::passages(conn, query, span))
    }

    fn queues(
        &mut self,
        query: &EpisodeQuery,
        span: Span,
    ) -> Result<Vec<ReportedEpisode>, HistoryError> {
        self.ask(|conn, _| queues::find(conn, query, span))
    }

    fn connections(
        &mut self,
        query: &ConnectionQuery,
        span: Span,
    ) -> Result<Vec<ConnectionFigures>, HistoryError> {
        self.ask(|conn, _| named_answers::connections(conn, query, span))
    }

    fn tcp_sums(
        &mut self,
        by: TcpGrouping,
        node: Option<NodeId>,
        span: Span,
    ) -> Result<Vec<TcpSums>, HistoryError> {
        self.ask(|conn, _| connection_answers::sums(conn, by, node, span))
    }

    fn tcp_hops(&mut self, node: Option<NodeId>, span: Span) -> Result<TcpHops, HistoryError> {
        self.ask(|conn, _| connection_hops::find(conn, node, span))
    }

    fn limit_series(
        &mut self,
        node: Option<NodeId>,
        span: Span,
        points: usize,
    ) -> Result<LimitSeries, HistoryError> {
        self.ask(|conn, _| connection_answers::limit_series(conn, node, span, points))
    }

    fn connection_series(
        &mut self,
        flow: i64,
        span: Span,
        points: usize,
    ) -> Result<ConnectionSeries, HistoryError> {
        self.ask(|conn, _| connection_answers::flow_series(conn, flow, span, points))
    }
}
