//! The tables of events: deploys, changes, silences, and what was accepted as usual; and what the collector saw by itself.

use rusqlite::{Connection, Row};

use super::bounds::{has_table, signed};
use crate::model::{NetworkEvent, Span};

/// The most events of a table: the latest.
const MOST_KEPT: i64 = 10_000;
/// Events that were posted, and those that were seen: these push none of the others out.
const TABLES: [&str; 2] = ["event", "seen_event"];

fn table_of(event: &NetworkEvent) -> &'static str {
    TABLES[usize::from(event.kind.is_seen())]
}

/// Writes events, and removes those before `before_ns`.
pub fn write(
    conn: &mut Connection,
    events: &[NetworkEvent],
    before_ns: u64,
) -> rusqlite::Result<()> {
    let transaction = conn.transaction()?;
    for table in TABLES {
        transaction.execute_batch(&format!(
            "CREATE TABLE IF NOT EXISTS {table} (
                 id INTEGER PRIMARY KEY,
                 time_ns INTEGER NOT NULL,
                 -- the end of a silence; else the time
                 until_ns INTEGER NOT NULL,
                 event TEXT NOT NULL
             );"
        ))?;
    }
    for event in events {
        let json = serde_json::to_string(event).unwrap_or_default();
        let until_ns = event.until_ns.unwrap_or(event.time_ns);
        let table = table_of(event);
        transaction.execute(
            &format!("INSERT INTO {table} (time_ns, until_ns, event) VALUES (?, ?, ?)"),
            (signed(event.time_ns), signed(until_ns), json),
        )?;
    }
    for table in TABLES {
        transaction.execute(
            &format!(
                "DELETE FROM {table} WHERE until_ns < ? OR id <= (SELECT max(id) FROM {table}) - ?"
            ),
            (signed(before_ns), MOST_KEPT),
        )?;
    }
    transaction.commit()
}

/// The events of a span, and the silences that last into it, oldest first.
pub fn read(conn: &Connection, span: Span) -> rusqlite::Result<Vec<NetworkEvent>> {
    let mut events: Vec<NetworkEvent> = Vec::new();
    for table in TABLES {
        if !has_table(conn, table)? {
            continue;
        }
        let mut ask = conn.prepare_cached(&format!(
            "SELECT event FROM {table} WHERE time_ns < ? AND until_ns >= ? ORDER BY time_ns, id"
        ))?;
        let times = (signed(span.until_ns), signed(span.since_ns));
        let rows = ask.query_map(times, |row: &Row<'_>| row.get::<_, String>(0))?;
        for json in rows {
            // A row of a later version that cannot be read is none.
            events.extend(serde_json::from_str::<NetworkEvent>(&json?));
        }
    }
    events.sort_by_key(|event| event.time_ns);
    Ok(events)
}
