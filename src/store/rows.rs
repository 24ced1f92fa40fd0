//! Rows of roll-ups, and the subjects that they belong to, as questions need them.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use super::path_sums::{self, PathSums};
use super::period::{ALL, RollUpLevel, RollUpTable, subject_of};
use super::plan::{Horizons, PeriodRange};
use super::rollup_row::RollUpRow;
use super::sums::{COLUMNS, Sums};
use crate::model::{Span, Subject};

/// Gives each row of a table in a span to `each`, with its key and the level of its period.
fn each_row<R: RollUpRow>(
    conn: &Connection,
    table: RollUpTable,
    span: Span,
    mut each: impl FnMut(RollUpLevel, i64, R),
) -> rusqlite::Result<()> {
    for segment in Horizons::read(conn, table)?.of_all(conn, table, span)? {
        let level = segment.level;
        let mut rows = conn.prepare_cached(&R::range(table.name(level)))?;
        R::each_of(&mut rows, segment.keys(), |key, row| each(level, key, row))?;
    }
    Ok(())
}

/// Adds up the rows of each subject.
pub fn sums_of_all(
    conn: &Connection,
    table: RollUpTable,
    span: Span,
) -> rusqlite::Result<HashMap<i64, Sums>> {
    let mut all: HashMap<i64, Sums> = HashMap::new();
    each_row(conn, table, span, |level, key, mut sums: Sums| {
        sums.newest_period_ns = level.period_of(key);
        all.entry(subject_of(key)).or_default().merge(&sums);
    })?;
    Ok(all)
}

/// Gives each row of a subject in these segments to `each`, with the beginning of its period.
pub fn rows_of_one(
    conn: &Connection,
    (table, subject): (RollUpTable, i64),
    segments: &[PeriodRange],
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
            if let Some(mut sums) = found {
                sums.newest_period_ns = level.period_of(key);
                each(begin, &sums);
            }
        }
    }
    Ok(())
}

/// Adds up the rows of each place of each path of a pair, by the path's subject and the place.
pub fn sums_of_all_places(conn: &Connection, span: Span) -> rusqlite::Result<HashMap<i64, Sums>> {
    let mut all: HashMap<i64, PathSums> = HashMap::new();
    each_row(
        conn,
        RollUpTable::Segment,
        span,
        |_, key, sums: PathSums| {
            let path = PathSums::subject(subject_of(key));
            all.entry(path).or_default().merge(&sums);
        },
    )?;
    let places = all.into_iter().flat_map(|(path, sums)| {
        let places = sums.into_places();
        places.map(move |(place, sums)| (path | place, sums))
    });
    Ok(places.collect())
}

/// Gives the sums of all places of a path in these segments to `each`, with the beginning of their period. The subject is
/// that of any place.
pub fn places_of_one(
    conn: &Connection,
    (table, subject): (RollUpTable, i64),
    segments: &[PeriodRange],
    mut each: impl FnMut(u64, &PathSums),
) -> rusqlite::Result<()> {
    for segment in segments {
        let level = segment.level;
        let mut find = conn.prepare_cached(&PathSums::range(table.name(level)))?;
        for begin in segment.periods() {
            let first = level.key(begin, PathSums::subject(subject));
            let mut sums = PathSums::default();
            let keys = (first, path_sums::after(first));
            PathSums::each_of(&mut find, keys, |_, row| sums.merge(&row))?;
            if !sums.is_empty() {
                each(begin, &sums);
            }
        }
    }
    Ok(())
}

/// Returns the time of the last report in a span: that of the last single one, unless that was removed, or later ones are in
/// the figures only; then the end of their period. Returns `None` without reports.
pub fn last_report_ns(conn: &Connection, sums: &Sums, span: Span) -> rusqlite::Result<Option<u64>> {
    let (end_ns, begin_ns) = sums.newest_period_ns;
    let mut ask = conn.prepare_cached("SELECT time_ns FROM report WHERE id = ?")?;
    let single: Option<i64> = ask.query_row([sums.last_id], |row| row.get(0)).optional()?;
    let single = single.map(|time_ns| time_ns as u64);
    let newest = single.filter(|time_ns| *time_ns >= begin_ns);
    let end_ns = (end_ns > 0).then(|| end_ns.min(span.until_ns));
    Ok(newest.or(end_ns))
}

/// Returns the table and the id of a subject, or `None` if the store does not know it.
pub fn place_of(
    conn: &Connection,
    subject: &Subject,
) -> rusqlite::Result<Option<(RollUpTable, i64)>> {
    let found = match subject {
        Subject::All => Some((RollUpTable::Class, ALL)),
        Subject::Flow(id) => Some((RollUpTable::Flow, *id)),
        Subject::Pair { source, sink } => conn
            .query_row(
                "SELECT id FROM pair WHERE source = ? AND sink = ?",
                (source.0, sink.0),
                |row| row.get(0),
            )
            .optional()?
            .map(|id| (RollUpTable::Pair, id)),
        Subject::Class(name) => conn
            .query_row("SELECT id FROM class WHERE name = ?", [name], |row| {
                row.get(0)
            })
            .optional()?
            .map(|id| (RollUpTable::Class, id)),
    };
    Ok(found)
}

pub fn class_names(conn: &Connection) -> rusqlite::Result<HashMap<i64, String>> {
    conn.prepare_cached("SELECT id, name FROM class")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
