//! The table of verdicts: what was said, since when and until when.

use rusqlite::{Connection, OptionalExtension};

use super::bounds::{has_table, signed};
use crate::model::{NetworkVerdict, PastVerdict, Span, VERDICT_SLOT_NS, VerdictState};

/// Writes verdicts, and removes those that ended before `before_ns`, in one transaction. One that says the same as the
/// last row goes on with it.
pub fn write(
    conn: &mut Connection,
    verdicts: &[NetworkVerdict],
    before_ns: u64,
) -> rusqlite::Result<()> {
    let transaction = conn.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS verdict (
             begin_ns INTEGER PRIMARY KEY,
             until_ns INTEGER NOT NULL,
             state TEXT NOT NULL,
             -- the id of the first cause, or of the first note; empty: there is none
             cause TEXT NOT NULL,
             -- the last one, as JSON
             verdict TEXT NOT NULL
         );",
    )?;
    for verdict in verdicts {
        let json = serde_json::to_string(verdict).unwrap_or_default();
        let last: Option<(i64, String, String, i64)> = transaction
            .query_row(
                "SELECT begin_ns, state, cause, until_ns FROM verdict ORDER BY begin_ns DESC LIMIT 1",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .optional()?;
        let now_ns = verdict.as_of_ns.cast_signed();
        let (state, cause) = (verdict.state.name(), verdict.first_id());
        match last {
            Some((begin_ns, last_state, last_cause, until_ns))
                if (last_state.as_str(), last_cause.as_str()) == (state, cause)
                    && now_ns >= until_ns
                    && now_ns - until_ns <= GAP_NS =>
            {
                transaction.execute(
                    "UPDATE verdict SET until_ns = ?, verdict = ? WHERE begin_ns = ?",
                    (now_ns, json, begin_ns),
                )?;
            }
            _ => {
                transaction.execute(
                    "INSERT OR REPLACE INTO verdict VALUES (?, ?, ?, ?, ?)",
                    (now_ns - SLOT_NS, now_ns, state, cause, json),
                )?;
            }
        }
    }
    transaction.execute(
        "DELETE FROM verdict WHERE until_ns < ?",
        [before_ns.cast_signed()],
    )?;
    transaction.commit()
}

/// The time that one verdict is about, and the longest time without one within a row.
const SLOT_NS: i64 = VERDICT_SLOT_NS.cast_signed();
const GAP_NS: i64 = 3 * SLOT_NS;

/// The last verdict of a span. A store without the table has none.
pub fn last(conn: &Connection, span: Span) -> rusqlite::Result<Option<NetworkVerdict>> {
    if !has_table(conn, "verdict")? {
        return Ok(None);
    }
    let mut ask = conn.prepare_cached(
        "SELECT verdict FROM verdict WHERE begin_ns < ? AND until_ns > ? ORDER BY begin_ns DESC LIMIT 1",
    )?;
    let times = (signed(span.until_ns), signed(span.since_ns));
    let json: Option<String> = ask.query_row(times, |row| row.get(0)).optional()?;
    // A row of a later version that cannot be read is none.
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
}

/// The verdicts of a span, oldest first.
pub fn past(conn: &Connection, span: Span) -> rusqlite::Result<Vec<PastVerdict>> {
    if !has_table(conn, "verdict")? {
        return Ok(Vec::new());
    }
    let mut ask = conn.prepare_cached(
        "SELECT begin_ns, until_ns, state, verdict FROM verdict WHERE begin_ns < ? AND until_ns > ?
         ORDER BY begin_ns",
    )?;
    let times = (signed(span.until_ns), signed(span.since_ns));
    let rows = ask.query_map(times, |row| {
        let (state, json): (String, String) = (row.get(2)?, row.get(3)?);
        let verdict: NetworkVerdict = serde_json::from_str(&json).unwrap_or_default();
        Ok(PastVerdict {
            begin_ns: row.get::<_, i64>(0)?.cast_unsigned(),
            until_ns: row.get::<_, i64>(1)?.cast_unsigned(),
            state: VerdictState::of_name(&state),
            text: verdict.text,
        })
    })?;
    rows.collect()
}
