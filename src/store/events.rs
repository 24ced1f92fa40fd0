//! The table of events: deploys, changes, silences, and what was accepted as usual.

use rusqlite::{Connection, Row};

use super::bounds::{has_table, signed};
use crate::model::{NetworkEvent, Span};

/// The most events that are kept: the latest.
const MOST_KEPT: i64 = 10_000;

/// Writes events, and removes those before `before_ns`.
pub fn write(
    conn: &mut Connection,
    events: &[NetworkEvent],
    before_ns: u64,
) -> rusqlite::Result<()> {
    let transaction = conn.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS event (
             id INTEGER PRIMARY KEY,
             time_ns INTEGER NOT NULL,
             -- the end of a silence; else the time
             until_ns INTEGER NOT NULL,
             event TEXT NOT NULL
         );",
    )?;
    for event in events {
        let json = serde_json::to_string(event).unwrap_or_default();
        let until_ns = event.until_ns.unwrap_or(event.time_ns);
        transaction.execute(
            "INSERT INTO event (time_ns, until_ns, event) VALUES (?, ?, ?)",
            (signed(event.time_ns), signed(until_ns), json),
        )?;
    }
    transaction.execute(
        "DELETE FROM event WHERE until_ns < ? OR id <= (SELECT max(id) FROM event) - ?",
        (signed(before_ns), MOST_KEPT),
    )?;
    transaction.commit()
}

/// The events of a span, and the silences that last into it, oldest first.
pub fn read(conn: &Connection, span: Span) -> rusqlite::Result<Vec<NetworkEvent>> {
    if !has_table(conn, "event")? {
        return Ok(Vec::new());
    }
    let mut ask = conn.prepare_cached(
        "SELECT event FROM event WHERE time_ns < ? AND until_ns >= ? ORDER BY time_ns, id",
    )?;
    let times = (signed(span.until_ns), signed(span.since_ns));
    let rows = ask.query_map(times, |row: &Row<'_>| row.get::<_, String>(0))?;
    let events = rows.map(|json| Ok(serde_json::from_str(&json?).ok()));
    // A row of a later version that cannot be read is none.
    let events: rusqlite::Result<Vec<Option<NetworkEvent>>> = events.collect();
    Ok(events?.into_iter().flatten().collect())
}
