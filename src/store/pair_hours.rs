//! What the packets of all pairs were in single hours: the past that a verdict compares with.

use rusqlite::{Connection, Row};

use super::bounds::{has_table, signed};
use super::period::{MAX_SUBJECT, RollUpLevel, RollUpTable};
use super::reader::HistoryReader;
use crate::model::{
    CellCounts, ClockSums, HistoryError, LatencyHistogram, Measured, NodeId, PairHour, Span,
    VerdictState,
};

/// The most pairs of an hour: as many as are judged.
const MOST_PAIRS: i64 = 65_536;

impl HistoryReader {
    /// Gives what each pair's packets were in the hours that begin at these times to `each`.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn pair_hours(
        &mut self,
        begins: &[u64],
        each: &mut dyn FnMut(PairHour),
    ) -> Result<(), HistoryError> {
        self.ask(|conn, _| self::each(conn, begins, each))
    }

    /// The times of a span in which something was degraded.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn degraded(&mut self, span: Span) -> Result<Vec<Span>, HistoryError> {
        self.ask(|conn, _| degraded(conn, span))
    }
}

/// Gives what each pair's packets were in the hours that begin at these times to `each`.
fn each(conn: &Connection, begins: &[u64], each: &mut dyn FnMut(PairHour)) -> rusqlite::Result<()> {
    let level = RollUpLevel::Hour;
    let mut ask = conn.prepare_cached(&format!(
        "SELECT source, sink, key, measured_packets, measured_lost, measured_recovered,
             measured_duplicates, measured_latency, corrected_packets, corrected_latency,
             corrected_error
         FROM {} JOIN pair ON pair.id = key & {MAX_SUBJECT}
         WHERE key >= ? AND key < ? AND measured > 0 LIMIT {MOST_PAIRS}",
        RollUpTable::Pair.name(level)
    ))?;
    for begin_ns in begins {
        let keys = (level.key(*begin_ns, 0), level.key(begin_ns + level.ns(), 0));
        let mut rows = ask.query(keys)?;
        while let Some(row) = rows.next()? {
            each(hour(row)?);
        }
    }
    Ok(())
}

fn hour(row: &Row<'_>) -> rusqlite::Result<PairHour> {
    let count = |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)? as u64);
    let bytes = row.get_ref(7)?.as_blob_or_null()?;
    // A damaged histogram is read as an empty one.
    let latency = LatencyHistogram::decode(bytes.unwrap_or_default()).unwrap_or_default();
    let measured = Measured {
        packets: count(3)?,
        lost: count(4)?,
        recovered: count(5)?,
        duplicates: count(6)?,
        corrected: ClockSums {
            packets: count(8)?,
            latency_ns: row.get(9)?,
            error_ns: count(10)?,
            ..ClockSums::default()
        },
        ..Measured::default()
    };
    Ok(PairHour {
        source: NodeId(row.get(0)?),
        sink: NodeId(row.get(1)?),
        begin_ns: RollUpLevel::Hour.begin_of(row.get(2)?),
        counts: CellCounts {
            sent: measured.sent(),
            lost: measured.missing(),
        },
        clocks_ns: measured.corrected.clocks_ns(&latency),
        latency,
    })
}

/// The times of a span in which something was degraded.
fn degraded(conn: &Connection, span: Span) -> rusqlite::Result<Vec<Span>> {
    if !has_table(conn, "verdict")? {
        return Ok(Vec::new());
    }
    let mut ask = conn.prepare_cached(
        "SELECT begin_ns, until_ns FROM verdict WHERE begin_ns < ? AND until_ns > ? AND state = ?",
    )?;
    let state = VerdictState::Degraded.name();
    let asked = (signed(span.until_ns), signed(span.since_ns), state);
    let rows = ask.query_map(asked, |row| {
        Ok(Span {
            since_ns: row.get::<_, i64>(0)?.cast_unsigned(),
            until_ns: row.get::<_, i64>(1)?.cast_unsigned(),
        })
    })?;
    rows.collect()
}
