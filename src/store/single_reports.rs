//! Answers with single reports: they are found through the roll-ups and decoded from their evidence.

use rusqlite::{Connection, OptionalExtension, Row};

use super::coding::exporter_of;
use super::evidence::{Decode, Evidence};
use super::period::{ALL, RollUpLevel, RollUpTable};
use super::plan::Horizons;
use super::rows::{class_names, place_of};
use crate::model::{Arrival, Record, ReportQuery, Span};

/// A row of a report. Its evidence may be in the row of another report of its datagram.
struct Stored {
    id: i64,
    time_ns: u64,
    before: Option<i64>,
    class: i64,
    part: i64,
    exporter: Option<Vec<u8>>,
    evidence: Option<Vec<u8>>,
}

const STORED: &str = "id, time_ns, before, class, part, exporter, evidence";

impl Stored {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            time_ns: row.get::<_, i64>(1)? as u64,
            before: row.get(2)?,
            class: row.get(3)?,
            part: row.get(4)?,
            exporter: row.get(5)?,
            evidence: row.get(6)?,
        })
    }
}

/// Returns the newest reports of a subject.
pub fn find(
    conn: &Connection,
    decode: &Decode,
    query: &ReportQuery,
    span: Span,
) -> rusqlite::Result<Vec<Record>> {
    let Some(place) = place_of(conn, &query.subject)? else {
        return Ok(Vec::new());
    };
    let found = newest(conn, place, span, query.limit)?;
    let classes = class_names(conn)?;
    let mut records = Vec::new();
    for one in found {
        let evidence = evidence_of(conn, &one)?;
        let exporter = one.exporter.as_deref().and_then(exporter_of);
        let evidence = Evidence {
            bytes: &evidence,
            part: usize::try_from(one.part).unwrap_or(0),
            arrival: exporter.map(|exporter| Arrival {
                exporter,
                received_ns: one.time_ns,
            }),
            class: classes.get(&one.class).map(String::as_str),
        };
        records.extend(decode(&evidence));
    }
    Ok(records)
}

/// Collects the newest reports of a subject in its ten seconds, the last of which come first.
fn newest(
    conn: &Connection,
    (table, subject): (RollUpTable, i64),
    span: Span,
    limit: usize,
) -> rusqlite::Result<Vec<Stored>> {
    let horizons = Horizons::read(conn, table)?;
    let oldest_id: Option<i64> =
        conn.query_row("SELECT min(id) FROM report", [], |row| row.get(0))?;
    let Some(oldest_id) = oldest_id else {
        return Ok(Vec::new());
    };
    let level = RollUpLevel::TenSeconds;
    let mut ids = conn.prepare_cached(&format!(
        "SELECT first_id, last_id FROM {} WHERE key = ?",
        table.name(level)
    ))?;
    let mut found = Vec::new();
    for begin in horizons.of_reports(span) {
        if found.len() >= limit {
            break;
        }
        let ids: Option<(i64, i64)> = ids
            .query_row([level.key(begin, subject)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let Some((first, last)) = ids.filter(|(_, last)| *last >= oldest_id) else {
            continue;
        };
        let within = Span {
            since_ns: span.since_ns.max(begin),
            until_ns: span.until_ns.min(begin + level.ns()),
        };
        let most = limit - found.len();
        match table {
            RollUpTable::Flow => follow(conn, last, within, most, &mut found)?,
            _ => scan(
                conn,
                (table, subject),
                (first, last),
                within,
                most,
                &mut found,
            )?,
        }
    }
    Ok(found)
}

/// Collects a flow's reports in ten seconds, from the last one back to the first.
fn follow(
    conn: &Connection,
    last: i64,
    span: Span,
    most: usize,
    found: &mut Vec<Stored>,
) -> rusqlite::Result<()> {
    let mut one = conn.prepare_cached(&format!("SELECT {STORED} FROM report WHERE id = ?"))?;
    let (mut next, mut left) = (Some(last), most);
    while let Some(id) = next.filter(|_| left > 0) {
        let Some(stored) = one.query_row([id], Stored::read).optional()? else {
            break;
        };
        // The ids only decrease, so that a damaged file cannot make this a loop.
        next = stored.before.filter(|before| *before < id);
        if (span.since_ns..span.until_ns).contains(&stored.time_ns) {
            found.push(stored);
            left -= 1;
        }
    }
    Ok(())
}

/// Collects a subject's reports between two ids.
fn scan(
    conn: &Connection,
    (table, subject): (RollUpTable, i64),
    (first, last): (i64, i64),
    span: Span,
    most: usize,
    found: &mut Vec<Stored>,
) -> rusqlite::Result<()> {
    let filter = match table {
        RollUpTable::Pair => "AND pair = ?5",
        RollUpTable::Class if subject != ALL => "AND class = ?5",
        _ => "AND ?5 = ?5",
    };
    let mut all = conn.prepare_cached(&format!(
        "SELECT {STORED} FROM report WHERE id BETWEEN ?1 AND ?2 AND time_ns >= ?3 AND time_ns < ?4 {filter}
         ORDER BY id DESC LIMIT ?6"
    ))?;
    let at = |time_ns: u64| time_ns.min(i64::MAX as u64) as i64;
    let rows = all.query_map(
        (
            first,
            last,
            at(span.since_ns),
            at(span.until_ns),
            subject,
            most as i64,
        ),
        Stored::read,
    )?;
    for row in rows {
        found.push(row?);
    }
    Ok(())
}

fn evidence_of(conn: &Connection, stored: &Stored) -> rusqlite::Result<Vec<u8>> {
    if let Some(evidence) = &stored.evidence {
        return Ok(evidence.clone());
    }
    let mut first = conn.prepare_cached("SELECT evidence FROM report WHERE id = ?")?;
    let found: Option<Option<Vec<u8>>> = first
        .query_row([stored.id - stored.part], |row| row.get(0))
        .optional()?;
    Ok(found.flatten().unwrap_or_default())
}
