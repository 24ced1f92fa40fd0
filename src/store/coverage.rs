//! The table of coverage: packets that the watchlists of hosts asked for, measured and not, by ten minutes.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::bounds::has_table;
use crate::model::coverage::{CoverageGrowth, CoverageRow, PERIOD_NS, TAGGED};
use crate::model::{NodeId, Span};

/// A sink that is not known has this number in the place of the node's.
const NO_NODE: i64 = -1;

/// Adds packets to the rows of the present, and removes rows that are older than `keep_ns`, in one transaction.
pub fn write(
    conn: &mut Connection,
    grown: &[CoverageGrowth],
    now_ns: u64,
    keep_ns: u64,
) -> rusqlite::Result<()> {
    let transaction = conn.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS coverage (
             period INTEGER NOT NULL,
             source INTEGER NOT NULL,
             sink INTEGER NOT NULL,
             -- empty: without a class
             class TEXT NOT NULL,
             -- empty: measured
             reason TEXT NOT NULL,
             -- negative: a sink told later of packets of which none had told
             packets INTEGER NOT NULL,
             -- NULL: not known
             bytes INTEGER,
             PRIMARY KEY (period, source, sink, class, reason)
         ) WITHOUT ROWID;",
    )?;
    {
        let mut add = transaction.prepare_cached(
            "INSERT INTO coverage VALUES (?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET packets = packets + excluded.packets, bytes = bytes + excluded.bytes",
        )?;
        for one in grown {
            add.execute((
                (now_ns / PERIOD_NS).cast_signed(),
                one.source.0,
                one.sink.map_or(NO_NODE, |sink| sink.0.into()),
                one.class.as_deref().unwrap_or_default(),
                one.reason.unwrap_or_default(),
                one.packets,
                one.bytes,
            ))?;
        }
    }
    let oldest = (now_ns.saturating_sub(keep_ns) / PERIOD_NS).cast_signed();
    transaction.execute("DELETE FROM coverage WHERE period < ?", [oldest])?;
    transaction.commit()
}

/// The first of the periods that the span touches, and the one behind the last.
pub fn periods_of(span: Span) -> (i64, i64) {
    let until = span.until_ns.div_ceil(PERIOD_NS).cast_signed();
    ((span.since_ns / PERIOD_NS).cast_signed(), until)
}

/// Returns the sums of each pair and class over all periods that the span touches, most missed packets first. A store
/// without the table has none.
pub fn read(conn: &Connection, span: Span) -> rusqlite::Result<Vec<CoverageRow>> {
    if !has_table(conn, "coverage")? {
        return Ok(Vec::new());
    }
    // A sum of bytes is known if all of its parts are.
    let mut ask = conn.prepare(
        "SELECT source, sink, class, reason, sum(packets), CASE WHEN count(bytes) = count(*) THEN sum(bytes) END
         FROM coverage WHERE period >= ? AND period < ? GROUP BY source, sink, class, reason",
    )?;
    let (from, until) = periods_of(span);
    let sums = ask.query_map([from, until], |row| {
        let sink = u32::try_from(row.get::<_, i64>(1)?).ok().map(NodeId);
        let key = (NodeId(row.get(0)?), sink, row.get::<_, String>(2)?);
        let [packets, bytes] = [row.get::<_, Option<i64>>(4)?, row.get(5)?]
            .map(|sum| sum.map(|sum| u64::try_from(sum).unwrap_or(0)));
        Ok((key, row.get::<_, String>(3)?, packets.unwrap_or(0), bytes))
    })?;
    let mut rows: BTreeMap<(NodeId, Option<NodeId>, String), CoverageRow> = BTreeMap::new();
    for sum in sums {
        let (key, reason, packets, bytes) = sum?;
        let (source, sink) = (key.0, key.1);
        let class = Some(key.2.clone()).filter(|class| !class.is_empty());
        let row = rows.entry(key).or_insert_with(|| CoverageRow {
            source,
            sink,
            class,
            ..CoverageRow::default()
        });
        match reason.as_str() {
            "" => (row.measured, row.measured_bytes) = (Some(packets), bytes),
            TAGGED => (row.tagged, row.tagged_bytes) = (Some(packets), bytes),
            _ if packets == 0 => {}
            _ => {
                row.missed_bytes.insert(reason.clone(), bytes);
                row.missed.insert(reason, packets);
            }
        }
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.missed.values().sum::<u64>()));
    Ok(rows)
}
