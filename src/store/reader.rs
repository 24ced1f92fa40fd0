//! Answers questions about the history: of a live or a stopped store, in this process or another.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};

use super::file::{self, StoreError};
use super::flows;
use super::period::{ALL, Level, Table, subject_of};
use super::plan::{Horizons, Segment};
use super::rollups::fact;
use super::single;
use super::sums::{COLUMNS, Sums};
use super::writer::{LAST_ROLLED_UP_ONLY, ROLLED_UP_ONLY};
use crate::model::{
    Arrival, ClassFigures, Extent, FlowFigures, FlowQuery, History, HistoryError, NodeId,
    PairFigures, Point, Record, ReportQuery, Series, Span, Subject,
};

/// A report as it came.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The datagram, or the JSON line, which begins with `{`.
    pub bytes: &'a [u8],
    /// Which report of the datagram.
    pub part: usize,
    pub arrival: Option<Arrival>,
    pub class: Option<&'a str>,
}

/// Reads reports again.
pub type Decode = Box<dyn Fn(&Evidence<'_>) -> Option<Record> + Send>;

/// A store that can be asked.
pub struct Reader {
    conn: Connection,
    path: PathBuf,
    decode: Decode,
}

impl Reader {
    pub fn open(path: &Path, decode: Decode) -> Result<Self, StoreError> {
        Ok(Self {
            conn: file::open_to_read(path)?,
            path: path.to_owned(),
            decode,
        })
    }

    /// An answer from one state of the store, although it is written to meanwhile.
    fn ask<T>(
        &mut self,
        question: impl FnOnce(&Connection, &Decode) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
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

/// Adds up the rows of each subject.
pub fn sums_of_all(
    conn: &Connection,
    table: Table,
    span: Span,
) -> rusqlite::Result<HashMap<i64, Sums>> {
    let horizons = Horizons::read(conn, table)?;
    let mut all: HashMap<i64, Sums> = HashMap::new();
    for segment in horizons.of_all(conn, table, span)? {
        let mut rows = conn.prepare_cached(&format!(
            "SELECT key, {COLUMNS} FROM {} WHERE key >= ? AND key < ?",
            table.name(segment.level)
        ))?;
        let mut rows = rows.query(segment.keys())?;
        while let Some(row) = rows.next()? {
            let sums = Sums::read(row, 1)?;
            all.entry(subject_of(row.get(0)?)).or_default().merge(&sums);
        }
    }
    Ok(all)
}

/// Gives each row of a subject in these segments to `each`, with the begin of its period.
pub fn rows_of_one(
    conn: &Connection,
    (table, subject): (Table, i64),
    segments: &[Segment],
    mut each: impl FnMut(u64, &Sums),
) -> rusqlite::Result<()> {
    for segment in segments {
        let level = segment.level;
        let mut find = conn.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {} WHERE key = ?",
            table.name(level)
        ))?;
        for begin in segment.periods() {
            let key = level.key(begin, subject);
            let found = find.query_row([key], |row| Sums::read(row, 0)).optional()?;
            if let Some(sums) = found {
                each(begin, &sums);
            }
        }
    }
    Ok(())
}

/// Where the figures of a subject are; `None` if the store does not know it.
pub fn place_of(conn: &Connection, subject: &Subject) -> rusqlite::Result<Option<(Table, i64)>> {
    let found = match subject {
        Subject::All => Some((Table::Class, ALL)),
        Subject::Flow(id) => Some((Table::Flow, *id)),
        Subject::Pair { source, sink } => conn
            .query_row(
                "SELECT id FROM pair WHERE source = ? AND sink = ?",
                (source.0, sink.0),
                |row| row.get(0),
            )
            .optional()?
            .map(|id| (Table::Pair, id)),
        Subject::Class(name) => conn
            .query_row("SELECT id FROM class WHERE name = ?", [name], |row| {
                row.get(0)
            })
            .optional()?
            .map(|id| (Table::Class, id)),
    };
    Ok(found)
}

pub fn class_names(conn: &Connection) -> rusqlite::Result<HashMap<i64, String>> {
    let mut all = conn.prepare_cached("SELECT id, name FROM class")?;
    let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn pairs(conn: &Connection, span: Span) -> rusqlite::Result<Vec<PairFigures>> {
    let sums = sums_of_all(conn, Table::Pair, span)?;
    let mut flows = conn.prepare_cached(
        "SELECT pair, count(*) FROM flow WHERE first_ns < ? AND until_ns > ? GROUP BY pair",
    )?;
    let at = |time_ns: u64| time_ns.min(i64::MAX as u64) as i64;
    let flows = flows.query_map((at(span.until_ns), at(span.since_ns)), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)? as u64))
    })?;
    let flows: HashMap<i64, u64> = flows.collect::<rusqlite::Result<_>>()?;
    let mut all = conn.prepare_cached("SELECT id, source, sink FROM pair ORDER BY source, sink")?;
    let mut rows = all.query([])?;
    let mut pairs = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if let Some(sums) = sums.get(&id) {
            pairs.push(PairFigures {
                source: NodeId(row.get(1)?),
                sink: NodeId(row.get(2)?),
                flows: flows.get(&id).copied().unwrap_or(0),
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
    Ok(Some(PairFigures {
        source,
        sink,
        flows: flows as u64,
        figures: sums.figures(),
    }))
}

fn classes(conn: &Connection, span: Span) -> rusqlite::Result<Vec<ClassFigures>> {
    let sums = sums_of_all(conn, Table::Class, span)?;
    let mut classes: Vec<ClassFigures> = class_names(conn)?
        .into_iter()
        .filter_map(|(id, class)| {
            let figures = sums.get(&id)?.figures();
            Some(ClassFigures { class, figures })
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
    let place = place_of(conn, subject)?;
    // A subject that is not known has no points, at the same times.
    let (table, subject) = place.unwrap_or((Table::Class, -1));
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
    let points = sums.iter().map(|(begin_ns, sums)| Point {
        begin_ns: *begin_ns,
        figures: sums.figures(),
    });
    Ok(Series {
        period_ns,
        points: points.collect(),
    })
}

fn extent(conn: &Connection) -> rusqlite::Result<Extent> {
    let number = |sql: &str| -> rusqlite::Result<u64> {
        let value: Option<i64> = conn.query_row(sql, [], |row| row.get(0))?;
        Ok(value.unwrap_or(0) as u64)
    };
    let reports = number("SELECT max(id) - min(id) + 1 FROM report")?;
    let mut first_ns = u64::MAX;
    if reports > 0 {
        first_ns = number("SELECT time_ns FROM report ORDER BY id LIMIT 1")?;
    }
    for level in Level::EACH {
        let sql = format!("SELECT min(key) FROM {}", Table::Class.name(level));
        let key: Option<i64> = conn.query_row(&sql, [], |row| row.get(0))?;
        // A period that ended before the oldest report tells of older ones.
        let begin = key.map(|key| level.begin_of(key));
        if let Some(begin) = begin.filter(|begin| begin + level.ns() <= first_ns) {
            first_ns = begin;
        }
    }
    let newest_ns = fact(conn, "newest_ns")?;
    let pages = number("PRAGMA page_count")?;
    Ok(Extent {
        first_ns: if newest_ns == 0 { 0 } else { first_ns },
        last_ns: newest_ns,
        reports,
        flows: number("SELECT count(*) FROM flow")?,
        bytes: pages * number("PRAGMA page_size")?,
        rolled_up_only: fact(conn, ROLLED_UP_ONLY)?,
        rolled_up_only_ns: fact(conn, LAST_ROLLED_UP_ONLY)?,
    })
}

impl History for Reader {
    fn extent(&mut self) -> Result<Extent, HistoryError> {
        self.ask(|conn, _| extent(conn))
    }

    fn pairs(&mut self, span: Span) -> Result<Vec<PairFigures>, HistoryError> {
        self.ask(|conn, _| pairs(conn, span))
    }

    fn pair(
        &mut self,
        source: NodeId,
        sink: NodeId,
        span: Span,
    ) -> Result<Option<PairFigures>, HistoryError> {
        self.ask(|conn, _| pair(conn, (source, sink), span))
    }

    fn flows(&mut self, query: &FlowQuery, span: Span) -> Result<Vec<FlowFigures>, HistoryError> {
        self.ask(|conn, _| flows::top(conn, query, span))
    }

    fn flow(&mut self, id: i64, span: Span) -> Result<Option<FlowFigures>, HistoryError> {
        self.ask(|conn, _| flows::one(conn, id, span))
    }

    fn classes(&mut self, span: Span) -> Result<Vec<ClassFigures>, HistoryError> {
        self.ask(|conn, _| classes(conn, span))
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
        self.ask(|conn, decode| single::find(conn, decode, query, span))
    }
}
